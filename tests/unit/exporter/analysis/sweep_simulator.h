#pragma once

#include <cstdint>
#include <functional>
#include <random>
#include <vector>

#include "collectors/pages/sweep_sample.h"
#include "collectors/targets/region_kind.h"

// A sweep over imagined writers: the same promotion rule as the real one, deterministic, without a clock.
namespace mempulse {

// Was the page written in [begin, end)? Seconds since the start of the sweep.
using Writer = std::function<bool(double begin, double end)>;

Writer PeriodicWriter(double hertz, double phase = 0.37);
Writer PoissonWriter(double hertz, double seconds, uint64_t seed);
// `count` writes at `inner_hertz`, every 1 / burst_hertz seconds.
Writer BurstyWriter(double burst_hertz, int count, double inner_hertz);
// Writes all the time, while the target runs.
Writer FlatOutWriter();

// The target runs for `share` of each period.
struct CpuSchedule {
  double period_seconds = 0.1;
  double share = 1;
  double RunsFor(double begin, double end) const;  // seconds within [begin, end)
};

struct SimulatedRung {
  double window_seconds = 0.02;
  // Looks back to back, then a pause; 0: never a pause.
  int burst_looks = 0;
  double pause_seconds = 0;
  bool reset_after_pause = false;  // else the pause belongs to the next window
  double page_share = 1;
};

struct SimulatedSweep {
  double seconds = 8;
  double jitter = 0.25;
  double lost_seconds = 0;  // between look and reset, as soft-dirty loses them
  double gap_seconds = 0;   // the pause before the sweep
  uint32_t promote_after = 10;
  std::vector<SimulatedRung> rungs;
  CpuSchedule cpu;
  uint64_t seed = 1;
};

// 20, 5, 1 ms and 250 us, unbroken.
std::vector<SimulatedRung> UsualRungs();

// Page i is at FirstPage() + i pages; `writers` in the same order. Each page climbs down the ladder while it
// is hit.
SweepSample Simulate(const SimulatedSweep& sweep, const std::vector<Writer>& writers);
constexpr uint64_t FirstPage() { return 0x100000; }

// One rung over one page with given hits: `looks` windows of one length, hits at the first looks.
RungSample PlainRung(absl::Duration window, uint32_t looks,
                     std::vector<std::pair<uint64_t, uint32_t>> hits_by_page);

}  // namespace mempulse
