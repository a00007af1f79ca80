#include "exporter/analysis/rung_reading.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace mempulse {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNotComputed = -1;
constexpr double kConstantWindows = 0.02;  // spread below which a sweep did not jitter
constexpr double kIrregular = 0.25;        // squared variation of the gaps; a memoryless writer has 1
constexpr double kOneWriteAWindow = 0.95;  // f * longest window up to which no window holds two writes
constexpr double kLargestSlack = 0.9;
// A page written all the time misses a look now and then, when something else holds its processor for a
// moment.
constexpr double kStrayMisses = 0.03;

// Mean of 1 - exp(-f * T) = rate, for windows around `window` with the relative deviation `spread` to second
// order.
double MemorylessHertz(double rate, double window, double spread) {
  if (rate >= 1) return kInfinity;
  const double writes = -std::log1p(-std::max(0.0, rate));
  return (writes + std::log1p(writes * writes * spread * spread / 2)) / window;
}

}  // namespace

RungReader::RungReader(const WindowTable& table, const InvertOptions& options)
    : table_(table), options_(options) {}

const CountReading& RungReader::Count(uint32_t hits) {
  if (known_.empty()) {
    CountReading empty;
    empty.rate = kNotComputed;
    known_.resize(table_.looks() + 1, empty);
  }
  hits = std::min<uint32_t>(hits, known_.size() - 1);
  if (known_[hits].rate == kNotComputed) known_[hits] = Compute(hits);
  return known_[hits];
}

// A hit in a window that a periodic writer cannot miss says nothing, so the proportion is taken over the
// others.
Interval RungReader::CountBounds(uint32_t hits, double frequency, double z) const {
  const double n = static_cast<double>(table_.looks());
  const double tail = UpperTail(z);
  if (hits >= n) return {table_.InvertAllHit(std::log(tail)), kInfinity};
  if (hits == 0) return {0, table_.Invert(n * -std::expm1(std::log(tail) / n))};
  const double unsure = std::max(1.0, static_cast<double>(table_.Unsure(frequency)));
  const double certain = n - unsure;
  const Interval share = WilsonInterval(std::clamp(hits - certain, 0.0, unsure), unsure, z);
  return {table_.Invert(certain + share.low * unsure), table_.Invert(certain + share.high * unsure)};
}

// Windows may be off by their slack as a whole; below some tens of microseconds a store can be seen twice.
Interval RungReader::Instrument(Interval bounds) const {
  const double slack = std::min(kLargestSlack, table_.relative_slack());
  const double twice = std::min(0.8, options_.double_count_seconds / table_.usual_mean_seconds());
  return {bounds.low / (1 + slack) * (1 - twice), bounds.high / (1 - slack)};
}

CountReading RungReader::Compute(uint32_t hits) const {
  CountReading result;
  const double n = static_cast<double>(table_.looks());
  if (n == 0) return result;
  const bool all = hits >= n;
  result.frequency = all ? 0 : table_.Invert(hits);
  result.confidence = Instrument(CountBounds(hits, result.frequency, options_.confidence_z));
  result.fit = Instrument(CountBounds(hits, result.frequency, options_.fit_z));
  if (all) result.frequency = result.confidence.low;

  const double usual = static_cast<double>(table_.usual_looks());
  const double long_windows =
      table_.Expected(result.frequency) - table_.ExpectedOfShortest(table_.usual_looks(), result.frequency);
  const double usual_hits = all ? usual : std::clamp(hits - long_windows, 0.0, usual);
  result.rate = usual_hits / usual;
  const double window = table_.usual_mean_seconds();
  const Interval share = WilsonInterval(usual_hits, usual, options_.fit_z);
  result.memoryless = Instrument({MemorylessHertz(share.low, window, table_.spread()),
                                  all ? kInfinity : MemorylessHertz(share.high, window, table_.spread())});
  const double high = WilsonInterval(usual_hits, usual, options_.confidence_z).high;
  result.memoryless_high =
      all ? kInfinity : Instrument({0, MemorylessHertz(high, window, table_.spread())}).high;
  return result;
}

RungReading RungReader::Read(const PageHits& page) {
  RungReading reading;
  reading.witness = page.witness;
  reading.looks = static_cast<uint32_t>(table_.looks());
  if (reading.looks == 0) return reading;
  reading.hits = std::min(page.hits, reading.looks);
  reading.count = Count(reading.hits);
  reading.frequency = reading.count.frequency;
  reading.confidence = reading.count.confidence;
  reading.seconds = table_.total_seconds();
  reading.mean_window = table_.usual_mean_seconds();
  reading.target_cpu = table_.mean_target_cpu();
  reading.all_hit = reading.hits >= (1 - kStrayMisses) * reading.looks;
  if (reading.all_hit && reading.hits < reading.looks) OpenUpwards(&reading);
  reading.saturated = reading.all_hit && reading.looks >= options_.saturation_looks;
  reading.constant = table_.spread() < kConstantWindows;
  reading.interrupted = table_.contiguous_share() < 0.5;
  reading.slack = table_.relative_slack();
  reading.steady_high = reading.confidence.high;
  ReadSpacing(page, &reading);
  if (reading.gaps > 0) Refine(page, &reading);
  return reading;
}

// What is saturated but for stray misses has its floor from the count and no upper bound.
void RungReader::OpenUpwards(RungReading* reading) {
  reading->count.frequency = reading->frequency = reading->count.confidence.low;
  for (Interval* bounds :
       {&reading->count.confidence, &reading->count.fit, &reading->count.memoryless, &reading->confidence}) {
    bounds->high = kInfinity;
  }
  reading->count.memoryless_high = kInfinity;
  reading->count.rate = 1;
}

void RungReader::ReadSpacing(const PageHits& page, RungReading* reading) const {
  if (reading->all_hit || !table_.unbroken() || reading->hits < 3 || page.hit_span_seconds <= 0) return;
  if (reading->count.frequency * table_.usual_longest_seconds() >= kOneWriteAWindow) return;
  reading->gaps = reading->hits - 1.0;
  const double mean = page.hit_span_seconds / reading->gaps;
  const double variance = page.hit_gap_square_sum / reading->gaps - mean * mean;
  // Both ends of a gap are known to a window only: the difference of two uniform errors.
  const double of_windows = reading->mean_window * reading->mean_window / 6;
  reading->gap_variation = std::max(0.0, variance - of_windows) / (mean * mean);
  reading->irregular = reading->gap_variation > kIrregular;
  reading->bursty = reading->gap_variation > 1.2 + 8 / std::sqrt(reading->gaps);
}

// Renewal theory (Cox, 1962): the rate of a renewal process from m gaps has the relative error cv / sqrt(m).
void RungReader::Refine(const PageHits& page, RungReading* reading) const {
  const double slack = std::min(kLargestSlack, table_.relative_slack());
  // Writes between look and reset are lost and their hits with them; the middle estimate of the window is as
  // much shorter than the cycle.
  const double by_count = reading->count.frequency;
  // Long windows hold more than one write and give one hit.
  const double merged = std::max(0.0, by_count * table_.total_seconds() - table_.Expected(by_count));
  const double frequency = (reading->gaps + merged) / page.hit_span_seconds * (1 + slack);
  const Interval& count = reading->count.confidence;
  if (frequency < count.low || frequency > count.high) return;
  const double quantile = StudentQuantile(options_.confidence_z, reading->gaps - 1);
  const double error = quantile * std::sqrt(reading->gap_variation / reading->gaps) +
                       reading->mean_window / page.hit_span_seconds;
  reading->frequency = frequency;
  if (error >= 1) return;
  const Interval spaced = Instrument({frequency * (1 - error), frequency / (1 - error)});
  reading->confidence = spaced;
  reading->steady_high = reading->irregular ? std::max(spaced.high, count.high) : spaced.high;
  if (reading->irregular) {
    // Random writes share windows that the periodic model counts as one.
    reading->confidence.high = std::max({spaced.high, count.high, reading->count.memoryless_high});
    reading->confidence.low = std::min(spaced.low, count.low);
  }
}

RungEstimate EstimateRung(absl::Span<const Look> looks, const PageHits& page, const InvertOptions& options) {
  const WindowTable table(looks, page.first_look, page.look_count);
  RungEstimate estimate;
  estimate.high_hertz = kInfinity;
  if (table.looks() == 0) return estimate;
  RungReader reader(table, options);
  const RungReading reading = reader.Read(page);
  estimate.frequency_hertz = reading.frequency;
  estimate.low_hertz = reading.confidence.low;
  estimate.high_hertz = reading.confidence.high;
  estimate.saturated = reading.saturated;
  estimate.bursty = reading.bursty;
  return estimate;
}

}  // namespace mempulse
