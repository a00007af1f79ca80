#include "exporter/analysis/page_verdict.h"

#include <algorithm>
#include <limits>
#include <optional>

#include "exporter/analysis/rung_agreement.h"

namespace mempulse {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
// Spacing that rules out a constant chance per window, which is how a restored value looks.
constexpr double kRegularGaps = 8;
constexpr double kRegularVariation = 0.1;
// A target that uses less sleeps by itself, one that uses more was not kept from running.
constexpr double kSleepingCpu = 0.15;
constexpr double kRunningCpu = 0.8;
constexpr double kBusyShare = 0.2;  // of the looks: fewer are the moments of the writes themselves
constexpr double kIdleRate =
    0.6;  // of the other looks: a page that is hit more often does not wait for the CPU
constexpr double kHitWhileBusy = 0.85;  // of the time that the target ran in busy looks
constexpr double kLargestLoad = 0.9;

Verdict Floor(PageState state, double frequency, double low) { return {state, frequency, {low, kInfinity}}; }

bool SaturatedWhileBusy(const RungReading& busy, const InvertOptions& options) {
  return busy.looks >= options.saturation_looks &&
         busy.count.rate >= kHitWhileBusy * std::min(1.0, busy.target_cpu);
}

Verdict Unfit(absl::Span<const RungReading> readings, std::optional<size_t> chosen) {
  double hits = 0;
  double seconds = 0;
  double low = kInfinity;
  for (const RungReading& reading : readings) {
    hits += reading.hits;
    seconds += reading.seconds;
    low = std::min(low, reading.confidence.low);
  }
  const double frequency = chosen ? readings[*chosen].frequency : hits / seconds;
  return Floor(PageState::kUnfit, frequency, std::min(low, frequency));
}

Verdict TooFew(absl::Span<const RungReading> readings) {
  double hits = 0;
  double seconds = 0;
  Interval bounds{0, kInfinity};
  for (const RungReading& reading : readings) {
    bounds.low = std::max(bounds.low, reading.confidence.low);
    bounds.high = std::min(bounds.high, reading.confidence.high);
    if (reading.all_hit) continue;
    hits += reading.hits;
    seconds += reading.seconds;
  }
  bounds.high = std::max(bounds.low, bounds.high);
  const double frequency = seconds > 0 ? hits / seconds : bounds.low;
  return {PageState::kTooFew, std::clamp(frequency, bounds.low, bounds.high), bounds};
}

// Looks of one length after pauses of one length: a writer in step with them is hit always or never.
bool MayBeInStep(const RungReading& reading) { return reading.constant && reading.interrupted; }

Verdict AllHit(absl::Span<const RungReading> readings, const InvertOptions& options) {
  std::vector<RungReading> sure;
  for (const RungReading& reading : readings) {
    if (!MayBeInStep(reading)) sure.push_back(reading);
  }
  const double floor = SaturatedFloor(sure, options);
  if (MayBeInStep(readings.back())) return Floor(PageState::kUnfit, floor, floor);
  const bool saturated =
      std::any_of(sure.begin(), sure.end(), [](const RungReading& r) { return r.saturated; });
  return Floor(saturated ? PageState::kAtCeiling : PageState::kTooFew, floor, floor);
}

// Could the hit rate be the target's share of the CPU? Regular spacing speaks against it, and so does a
// target that sleeps or runs all the time.
bool CpuMayDecide(const RungReading& reading) {
  if (reading.gaps > 0 && !reading.irregular) return false;
  return reading.target_cpu >= kSleepingCpu && reading.target_cpu <= kRunningCpu;
}

// The page is hit whenever the target runs and hardly otherwise.
bool WaitsForCpu(const RungReading& all, const RungReading& busy, const InvertOptions& options) {
  if (busy.looks < kBusyShare * all.looks || !SaturatedWhileBusy(busy, options)) return false;
  const double idle_looks = all.looks - busy.looks;
  const double idle_hits = all.hits - std::min(all.hits, busy.hits);
  return idle_looks > 0 && idle_hits < kIdleRate * idle_looks;
}

// Rates that a page written all the time would have, for they are no lower than the target's share of the
// CPU.
bool RatesFollowCpu(absl::Span<const RungReading> readings) {
  return std::all_of(readings.begin(), readings.end(), [](const RungReading& reading) {
    return reading.target_cpu >= kSleepingCpu && reading.target_cpu <= kRunningCpu &&
           reading.count.rate >= kHitWhileBusy * reading.target_cpu;
  });
}

Verdict CeilingWhileRunning(absl::Span<const RungReading> busy) {
  double floor = 0;
  for (const RungReading& reading : busy) floor = std::max(floor, reading.confidence.low);
  Verdict verdict = Floor(PageState::kAtCeiling, floor, floor);
  verdict.while_running = true;
  return verdict;
}

// The rungs contradict each other, and the target did not run all the time: ask the looks in which it ran.
std::optional<Verdict> JudgeByBusyLooks(absl::Span<const RungReading> readings,
                                        const std::vector<RungReading>& busy, const InvertOptions& options) {
  std::vector<RungReading> enough;
  bool decided = false;
  bool partly_idle = false;
  bool saturated = true;
  for (size_t i = 0; i < readings.size(); ++i) {
    partly_idle |= busy[i].looks < readings[i].looks;
    if (busy[i].looks < options.saturation_looks) continue;
    enough.push_back(busy[i]);
    decided |= !readings[i].all_hit;
    saturated &= SaturatedWhileBusy(busy[i], options);
  }
  if (!partly_idle) return std::nullopt;
  if (decided && saturated) return CeilingWhileRunning(enough);
  const std::optional<size_t> chosen = ChooseRung(enough, options);
  if (decided && chosen && FitOf(enough) == Fit::kPeriodic) {
    const RungReading& reading = enough[*chosen];
    return Verdict{PageState::kMeasured, reading.frequency, reading.confidence, reading.steady_high, true};
  }
  if (decided && !RatesFollowCpu(readings)) return std::nullopt;
  const Verdict floor = Unfit(readings, ChooseRung(readings, options));
  return Floor(PageState::kTargetIdle, floor.frequency, floor.bounds.low);
}

Verdict Contradicted(absl::Span<const RungReading> readings, const TrackerTruth& tracker,
                     const InvertOptions& options, absl::FunctionRef<std::vector<RungReading>()> busy) {
  if (ProbeCollapsed(readings, options)) {
    const double floor = SaturatedFloor(readings, options);
    return Floor(PageState::kProbeLimited, floor, floor);
  }
  // A value-restoring writer contradicts itself in the same way, so the CPU explains it only where it cannot
  // be one.
  if (tracker.sees_restores) {
    if (const std::optional<Verdict> verdict = JudgeByBusyLooks(readings, busy(), options)) return *verdict;
  }
  return Unfit(readings, ChooseRung(readings, options));
}

// Writes were lost at moments that the writer's phase decides, so the hits are no sample.
bool PhaseLocked(const RungReading& reading, const TrackerTruth& tracker) {
  if (MayBeInStep(reading)) return true;
  return reading.constant && !tracker.atomic && reading.slack > 0 && (reading.gaps == 0 || reading.irregular);
}

Verdict Measured(const RungReading& reading, Fit fit, const InvertOptions& options) {
  Verdict verdict{PageState::kMeasured, reading.frequency, reading.confidence, reading.steady_high};
  // Where random writes are as good an explanation, they would be this fast: only spacing tells them from a
  // timer.
  if (fit == Fit::kMemoryless || reading.gaps == 0) {
    verdict.bounds.high = std::max(verdict.bounds.high, reading.count.memoryless_high);
  }
  if (reading.load > options.probe_load_limit) {
    verdict.bounds.high /= 1 - std::min(kLargestLoad, reading.load);
    verdict.steady_high /= 1 - std::min(kLargestLoad, reading.load);
  }
  return verdict;
}

}  // namespace

Verdict Judge(absl::Span<const RungReading> readings, const TrackerTruth& tracker,
              const InvertOptions& options, absl::FunctionRef<std::vector<RungReading>()> busy) {
  const Fit fit = FitOf(readings);
  if (fit == Fit::kNone) return Contradicted(readings, tracker, options, busy);
  const bool all_hit =
      std::all_of(readings.begin(), readings.end(), [](const RungReading& r) { return r.all_hit; });
  if (all_hit) return AllHit(readings, options);
  const std::optional<size_t> chosen = ChooseRung(readings, options);
  if (!chosen && readings.back().saturated) return AllHit(readings, options);
  if (!chosen) return TooFew(readings);

  const RungReading& reading = readings[*chosen];
  if (PhaseLocked(reading, tracker) || reading.bursty) return Unfit(readings, chosen);
  if (!tracker.sees_restores && !FlatRateRejected(readings, *chosen, options)) {
    const bool regular = reading.gaps >= kRegularGaps && reading.gap_variation < kRegularVariation;
    if (!regular && reading.hits <= kRegularGaps) {
      return Floor(PageState::kTooFew, reading.frequency, reading.confidence.low);
    }
    if (!regular) return Unfit(readings, chosen);
  }
  // Due on a shorter window that nobody looked at: what it missed may have been moments without the
  // processor.
  if (readings.size() == 1 && reading.count.rate > options.unconfirmed_rate) {
    return Floor(PageState::kAtCeiling, reading.confidence.low, reading.confidence.low);
  }
  if (CpuMayDecide(reading)) {
    const std::vector<RungReading> busy_readings = busy();
    if (WaitsForCpu(reading, busy_readings[*chosen], options)) {
      return CeilingWhileRunning({&busy_readings[*chosen], 1});
    }
  }
  return Measured(reading, fit, options);
}

}  // namespace mempulse
