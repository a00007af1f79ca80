#pragma once

#include <vector>

#include "absl/time/time.h"
#include "collectors/pages/sweep_sample.h"
#include "exporter/analysis/confidence.h"
#include "exporter/analysis/invert_windows.h"
#include "exporter/analysis/window_table.h"

namespace mempulse {

// What a number of hits on a set of looks says, by count alone. Hertz.
struct CountReading {
  double frequency = 0;        // periodic inversion; the low bound when every look was a hit
  Interval confidence;         // at confidence_z; high is infinite when every look was a hit
  Interval fit;                // the same at fit_z: what another rung must agree with
  Interval memoryless;         // at fit_z, if the writes came at random: -ln(1 - rate) / T
  double memoryless_high = 0;  // at confidence_z
  double rate = 0;             // hits / looks without the long windows that follow a pause
};

// One page on one rung, ready to be compared with its other rungs.
struct RungReading {
  CountReading count;
  double frequency = 0;  // count, or the spacing of the hits where that is sharper
  Interval confidence;
  double steady_high = 0;  // confidence.high without what random writes would add
  absl::Duration requested;
  uint32_t looks = 0;  // not discarded
  uint32_t hits = 0;
  double seconds = 0;  // sum of the windows
  double mean_window = 0;
  double load = 0;  // share of a CPU that the rung's faults took from the target
  double target_cpu = 0;
  bool witness = false;    // there to confirm the rung above, not drawn
  bool all_hit = false;    // but for stray misses
  bool saturated = false;  // all_hit over saturation_looks or more
  // Hits may be locked to the writer's phase when windows are constant and writes are lost between them.
  bool constant = false;     // the windows were not jittered
  bool interrupted = false;  // most looks followed a pause
  double slack = 0;          // share of the windows that is uncertain
  // Spacing of the hits, when no pause broke it and no window could hold two writes.
  double gaps = 0;           // 0: the spacing says nothing
  double gap_variation = 0;  // squared coefficient of variation, without the part that the windows add
  bool irregular = false;    // clearly not periodic
  bool bursty = false;       // varies more than a memoryless writer
};

// Reads pages that took part in the same looks; answers by count are remembered. Not thread-safe.
class RungReader {
 public:
  RungReader(const WindowTable& table, const InvertOptions& options);

  const WindowTable& table() const { return table_; }
  const CountReading& Count(uint32_t hits);
  // Leaves `requested` and `load` to the caller.
  RungReading Read(const PageHits& page);

 private:
  CountReading Compute(uint32_t hits) const;
  static void OpenUpwards(RungReading* reading);
  Interval CountBounds(uint32_t hits, double frequency, double z) const;
  Interval Instrument(Interval bounds) const;
  void ReadSpacing(const PageHits& page, RungReading* reading) const;
  void Refine(const PageHits& page, RungReading* reading) const;

  const WindowTable& table_;
  const InvertOptions& options_;
  std::vector<CountReading> known_;  // by hits; rate < 0: not computed yet
};

}  // namespace mempulse
