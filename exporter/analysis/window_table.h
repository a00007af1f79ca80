#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "collectors/pages/sweep_sample.h"

namespace mempulse {

// A look counts as busy when the target used at least this much of one CPU around it.
inline constexpr float kBusyCpu = 0.5F;

// The measured windows of a range of looks, sorted and summed up so that the periodic model is evaluated and
// inverted in O(log looks). Seconds and hertz. Immutable, hence thread-safe.
class WindowTable {
 public:
  enum class Only { kAll, kBusy };

  // Looks [first, first + count) that are not discarded (ranges that reach beyond the end are cut). A
  // positive `extra_window` is one more look, such as the pause before the sweep.
  WindowTable(absl::Span<const Look> looks, uint32_t first, uint32_t count, Only only = Only::kAll,
              double extra_window = 0);

  size_t looks() const { return sorted_.size(); }

  // Expected hits of a periodic writer: sum of min(1, hertz * T).
  double Expected(double hertz) const { return ExpectedOfShortest(sorted_.size(), hertz); }
  // The same over the `count` shortest windows only.
  double ExpectedOfShortest(size_t count, double hertz) const;

  // The frequency whose Expected() is `hits`; 0 for none, 1 / shortest window for hits >= looks(). Needs
  // looks() > 0.
  double Invert(double hits) const;

  // The frequency at which all looks are hits with the chance exp(log_chance): sum of ln min(1, f * T) =
  // log_chance. Needs looks() > 0 and log_chance < 0.
  double InvertAllHit(double log_chance) const;

  // Windows shorter than 1 / hertz: those whose outcome is not certain.
  size_t Unsure(double hertz) const;

  // Windows of usual length (up to 1.5 medians): they are the shortest ones, the others followed a pause.
  size_t usual_looks() const { return usual_; }
  double usual_mean_seconds() const { return usual_mean_; }
  double usual_longest_seconds() const { return usual_ == 0 ? 0 : sorted_[usual_ - 1]; }
  double total_seconds() const { return sums_.back(); }

  // How far the windows may be off as a whole: sum of slack / sum of windows, over the usual looks.
  double relative_slack() const { return relative_slack_; }
  // Standard deviation / mean of the usual windows: near 0 when the sweep did not jitter.
  double spread() const { return spread_; }
  // Share of looks that began where the one before ended.
  double contiguous_share() const { return contiguous_share_; }
  // No pause and nothing discarded between the first and the last look.
  bool unbroken() const { return unbroken_; }
  double mean_target_cpu() const { return mean_target_cpu_; }

 private:
  void SumUp();
  void DescribeUsual(absl::Span<const Look> looks);

  std::vector<double> sorted_;
  std::vector<double> sums_;      // sums_[k]: of the k shortest windows
  std::vector<double> log_sums_;  // of their logarithms
  size_t usual_ = 0;
  double usual_mean_ = 0;
  double relative_slack_ = 0;
  double spread_ = 0;
  double contiguous_share_ = 1;
  bool unbroken_ = true;
  double mean_target_cpu_ = 0;
};

}  // namespace mempulse
