#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/time/time.h"
#include "absl/types/span.h"
#include "collectors/pages/sweep_sample.h"
#include "exporter/analysis/invert_windows.h"
#include "exporter/analysis/page_frequency.h"
#include "exporter/analysis/rung_reading.h"

namespace mempulse {

// The rungs of a sample by requested window: which of them count, on which the ceiling population is counted,
// and how many pages each listed page stands for. Reads the sample at construction and keeps no reference to
// it.
class SamplingPlan {
 public:
  SamplingPlan(const SweepSample& sample, const InvertOptions& options);

  // Index of the level of a rung: 0 is the longest window.
  size_t LevelOf(const RungSample& rung) const;

  // 1 / mean measured window of the shortest valid level; 0 when none ran.
  double CeilingHertz() const;

  // Settles the reference window. `wanted` tells that some page was saturated on the last rung that ran on
  // it, so a finer one was missing; without such a page a reference rung that never ran has population 0.
  void SettleReference(bool wanted, FrequencyMap* map);

  // Fills weight, reference_weight, saturated_at_reference and undrawn_at_reference. `page_rungs` are the
  // rungs that gave `readings`, longest window first. A page without readings is one of the gap alone. A page
  // at ceiling while the target ran is saturated on each of its rungs.
  void Weigh(absl::Span<const RungReading> readings, absl::Span<const RungSample* const> page_rungs,
             bool ceiling_while_running, PageFrequency* page) const;

 private:
  struct Level {
    absl::Duration requested;
    uint64_t looks = 0;
    double mean_window = 0;
    double share = 1;      // chance to be drawn into it, mean over its parts
    bool sampled = false;  // some pages were drawn, others were not
    double load = 0;
  };
  bool Valid(const Level& level) const { return level.looks > 0 && level.load <= load_limit_; }
  std::optional<size_t> ShortestValid() const;

  double load_limit_;
  absl::Duration asked_;
  std::vector<Level> levels_;
  std::optional<size_t> reference_;
};

}  // namespace mempulse
