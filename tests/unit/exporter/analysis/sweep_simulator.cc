#include "tests/unit/exporter/analysis/sweep_simulator.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

namespace mempulse {
namespace {

struct TimedLook {
  double begin = 0;
  double end = 0;
};

Writer WriterAt(std::vector<double> times) {
  const auto shared = std::make_shared<const std::vector<double>>(std::move(times));
  return [shared](double begin, double end) {
    const auto next = std::lower_bound(shared->begin(), shared->end(), begin);
    return next != shared->end() && *next < end;
  };
}

std::vector<TimedLook> AddLooks(const SimulatedSweep& sweep, const SimulatedRung& rung,
                                std::mt19937_64* random, RungSample* sample) {
  std::uniform_real_distribution<double> jitter(1 - sweep.jitter, 1 + sweep.jitter);
  std::vector<TimedLook> times;
  double now = 0;
  for (int i = 0; now < sweep.seconds; ++i) {
    const double window = rung.window_seconds * jitter(*random);
    const bool after_pause = rung.burst_looks > 0 && i % rung.burst_looks == 0;
    const double pause = after_pause ? rung.pause_seconds : 0;
    const double begin = now + (i == 0 ? 0 : sweep.lost_seconds) + (rung.reset_after_pause ? pause : 0);
    const double end = now + window + pause;
    Look look;
    // The middle estimate: the lost time counts half.
    look.window_seconds = end - begin + (i == 0 ? 0 : sweep.lost_seconds / 2);
    look.slack_seconds = sweep.lost_seconds / 2;
    look.contiguous = !after_pause;
    const double block = std::max(0.01, end - begin);
    look.target_cpu = static_cast<float>(sweep.cpu.RunsFor(end - block, end) / block);
    sample->looks.push_back(look);
    times.push_back({begin, end});
    now = end;
  }
  return times;
}

// Counts one page from `first` on; returns the look after which it goes on to the next rung, or the number of
// looks.
uint32_t CountPage(const std::vector<TimedLook>& times, const Writer& writer, const SimulatedSweep& sweep,
                   bool last, uint32_t first, const RungSample& rung, PageHits* page) {
  double first_hit = -1;
  double last_hit = 0;
  page->first_look = first;
  for (uint32_t i = first; i < times.size(); ++i) {
    const bool hit =
        sweep.cpu.RunsFor(times[i].begin, times[i].end) > 0 && writer(times[i].begin, times[i].end);
    const bool busy = rung.looks[i].target_cpu >= 0.5F;
    ++page->look_count;
    page->busy_looks += busy ? 1 : 0;
    page->busy_hits += busy && hit ? 1 : 0;
    if (hit) {
      ++page->hits;
      if (first_hit < 0) first_hit = times[i].end;
      if (page->hits > 1) page->hit_gap_square_sum += std::pow(times[i].end - last_hit, 2);
      last_hit = times[i].end;
      page->hit_span_seconds = last_hit - first_hit;
    }
    const bool open = page->look_count == sweep.promote_after && page->hits == sweep.promote_after;
    if (open && !last) return i;
  }
  return static_cast<uint32_t>(times.size());
}

}  // namespace

Writer PeriodicWriter(double hertz, double phase) {
  return [hertz, phase](double begin, double end) {
    return std::floor(end * hertz + phase) > std::floor(begin * hertz + phase);
  };
}

Writer PoissonWriter(double hertz, double seconds, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::exponential_distribution<double> gap(hertz);
  std::vector<double> times;
  for (double now = gap(random); now < seconds; now += gap(random)) times.push_back(now);
  return WriterAt(std::move(times));
}

Writer BurstyWriter(double burst_hertz, int count, double inner_hertz) {
  std::vector<double> times;
  for (double now = 0.011; now < 100; now += 1 / burst_hertz) {
    for (int i = 0; i < count; ++i) times.push_back(now + i / inner_hertz);
  }
  return WriterAt(std::move(times));
}

Writer FlatOutWriter() {
  return [](double begin, double end) { return end > begin; };
}

double CpuSchedule::RunsFor(double begin, double end) const {
  if (share >= 1) return end - begin;
  const auto until = [this](double time) {
    const double whole = std::floor(time / period_seconds);
    return whole * share * period_seconds +
           std::min(share * period_seconds, std::max(0.0, time - whole * period_seconds));
  };
  return until(end) - until(begin);
}

std::vector<SimulatedRung> UsualRungs() { return {{0.02}, {0.005}, {0.001}, {0.00025}}; }

SweepSample Simulate(const SimulatedSweep& sweep, const std::vector<Writer>& writers) {
  std::mt19937_64 random(sweep.seed);
  SweepSample sample;
  sample.tracked_pages = writers.size();
  sample.ceiling_window = absl::Microseconds(250);
  sample.atomic = sweep.lost_seconds == 0;
  sample.target_seconds_per_hit = 1.1e-6;
  sample.target_cpu = sweep.cpu.share;
  sample.duration_seconds = sweep.seconds;
  const PageRange all{FirstPage(), FirstPage() + writers.size() * kPageSize};
  SweepRegion region;
  region.range = all;
  region.kind = static_cast<int>(RegionKind::kHeap);
  sample.regions.push_back(region);
  std::vector<double> start(writers.size(), 0);  // on the current rung; negative: stayed above
  for (size_t r = 0; r < sweep.rungs.size(); ++r) {
    RungSample rung;
    rung.requested = absl::Seconds(sweep.rungs[r].window_seconds);
    rung.page_share = sweep.rungs[r].page_share;
    if (r == 0) rung.ranges.push_back(all);
    const std::vector<TimedLook> times = AddLooks(sweep, sweep.rungs[r], &random, &rung);
    std::uniform_real_distribution<double> draw(0, 1);
    for (size_t p = 0; p < writers.size(); ++p) {
      if (start[p] < 0) continue;
      const bool drawn = rung.page_share >= 1 || draw(random) < rung.page_share;
      uint32_t first = 0;
      while (first < times.size() && times[first].begin < start[p]) ++first;
      PageHits page;
      page.address = FirstPage() + p * kPageSize;
      start[p] = -1;
      if (!drawn) continue;
      rung.eligible_pages += 1;
      const uint32_t left =
          CountPage(times, writers[p], sweep, r + 1 == sweep.rungs.size(), first, rung, &page);
      if (left < times.size()) start[p] = times[left].end;
      if (page.hits > 0 || r > 0) rung.pages.push_back(page);
      if (r > 0) rung.ranges.push_back({page.address, page.address + kPageSize});
    }
    sample.rungs.push_back(std::move(rung));
  }
  if (sweep.gap_seconds > 0) {
    sample.gap.window_seconds = sweep.gap_seconds;
    sample.gap.looked.push_back(all);
    for (size_t p = 0; p < writers.size(); ++p) {
      const uint64_t address = FirstPage() + p * kPageSize;
      if (writers[p](-sweep.gap_seconds, 0)) sample.gap.written.push_back({address, address + kPageSize});
    }
  }
  return sample;
}

RungSample PlainRung(absl::Duration window, uint32_t looks,
                     std::vector<std::pair<uint64_t, uint32_t>> hits_by_page) {
  RungSample rung;
  rung.requested = window;
  // Half shorter, half longer than asked, as jitter makes them.
  for (uint32_t i = 0; i < looks; ++i) {
    Look look;
    look.window_seconds = absl::ToDoubleSeconds(window) * (i % 2 == 0 ? 0.9 : 1.1);
    look.contiguous = i % 2 == 0;
    rung.looks.push_back(look);
  }
  for (const auto& [address, hits] : hits_by_page) {
    PageHits page;
    page.address = address;
    page.look_count = looks;
    page.hits = hits;
    page.busy_looks = looks;
    page.busy_hits = hits;
    rung.pages.push_back(page);
    rung.ranges.push_back({address, address + kPageSize});
  }
  return rung;
}

}  // namespace mempulse
