#include "exporter/analysis/rung_agreement.h"

#include <algorithm>
#include <limits>

namespace mempulse {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
// The longest unsaturated window has the most writes a look; a shorter one replaces it only where the longer
// one had too few looks to say much.
constexpr double kClearlySharper = 1.1;
constexpr double kTolerance =
    1.05;  // windows are measured, yet no better than some per cent on a busy machine

bool Overlap(absl::Span<const RungReading> readings, Interval CountReading::*bounds) {
  double low = 0;
  double high = kInfinity;
  for (const RungReading& reading : readings) {
    low = std::max(low, (reading.count.*bounds).low);
    high = std::min(high, (reading.count.*bounds).high);
  }
  return low <= high * kTolerance;
}

double Width(const RungReading& reading) { return reading.confidence.high / reading.confidence.low; }

bool SeesStoresTwice(const RungReading& reading, const InvertOptions& options) {
  return reading.mean_window < options.double_count_window_seconds;
}

}  // namespace

Fit FitOf(absl::Span<const RungReading> readings) {
  if (Overlap(readings, &CountReading::fit)) return Fit::kPeriodic;
  if (Overlap(readings, &CountReading::memoryless)) return Fit::kMemoryless;
  return Fit::kNone;
}

std::optional<size_t> ChooseRung(absl::Span<const RungReading> readings, const InvertOptions& options) {
  std::optional<size_t> chosen;
  std::optional<size_t> nearly_saturated;
  bool saturated_above = false;
  for (size_t i = 0; i < readings.size(); ++i) {
    const RungReading& reading = readings[i];
    const bool twice = SeesStoresTwice(reading, options);
    if (reading.saturated && !twice) {
      saturated_above = true;
      // A miss or two on a longer window were moments in which the target did not run.
      nearly_saturated.reset();
    }
    if (reading.all_hit || reading.hits < options.fewest_hits || (twice && !saturated_above)) continue;
    if (reading.count.rate > options.unsaturated_rate) {
      nearly_saturated = i;
    } else if (!chosen || Width(reading) * kClearlySharper < Width(readings[*chosen])) {
      chosen = i;
    }
  }
  return chosen ? chosen : nearly_saturated;
}

double SaturatedFloor(absl::Span<const RungReading> readings, const InvertOptions& options) {
  double floor = 0;
  for (const RungReading& reading : readings) {
    if (reading.all_hit && !SeesStoresTwice(reading, options)) {
      floor = std::max(floor, reading.confidence.low);
    }
  }
  return floor;
}

bool ProbeCollapsed(absl::Span<const RungReading> readings, const InvertOptions& options) {
  double floor = 0;
  for (const RungReading& reading : readings) {
    if (reading.saturated) floor = std::max(floor, reading.count.fit.low);
    if (!reading.all_hit && reading.load > options.probe_load_limit &&
        reading.count.fit.high * kTolerance < floor) {
      return true;
    }
  }
  return false;
}

bool FlatRateRejected(absl::Span<const RungReading> readings, size_t chosen, const InvertOptions& options) {
  const RungReading& own = readings[chosen];
  const Interval rate = WilsonInterval(own.count.rate * own.looks, own.looks, options.fit_z);
  double hits = 0;
  double looks = 0;
  for (size_t i = 0; i < chosen; ++i) {
    hits += readings[i].hits;
    looks += readings[i].looks;
  }
  return looks > 0 && WilsonInterval(hits, looks, options.fit_z).low > rate.high;
}

}  // namespace mempulse
