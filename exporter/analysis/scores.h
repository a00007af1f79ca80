#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "absl/strings/string_view.h"
#include "exporter/analysis/compare_to_baseline.h"

// How unusual a comparison is among those of the baseline's own runs. Pure.
//
// Each signal has a statistic that grows with strangeness. The statistic of every run of the baseline against
// the other runs is its reference sample; a live run is placed among these: p = (1 + number of them that are
// at least as great) / (n + 1), the empirical p-value of a permutation test (Phipson and Smyth, 2010). It is
// never smaller than 1 / (n + 1).
namespace mempulse {

enum class Signal { kNovel, kIdentityRate, kCurveSpike, kCurveShift, kCeilingPopulation, kCombined };
inline constexpr size_t kSignalCount = 6;
inline constexpr std::array<Signal, kSignalCount> kAllSignals = {
    Signal::kNovel,      Signal::kIdentityRate,      Signal::kCurveSpike,
    Signal::kCurveShift, Signal::kCeilingPopulation, Signal::kCombined};

// "novel", "identity_rate", "curve_spike", "curve_shift", "ceiling_population", "combined": a static string.
absl::string_view SignalName(Signal signal);

using SignalValues = std::array<double, kSignalCount>;

// novel: identities never seen. identity_rate, curve_spike, curve_shift: logarithm of the greatest ratio over
// the runs (0: none is over), the curve whole and by kind. ceiling_population: pages above the range of the
// runs, whole or of a kind. combined is left 0: it is a statistic of the p-values of the others.
SignalValues StatisticsOf(const Comparison& comparison);

struct SignalScore {
  double statistic = 0;
  double p_value = 1;
  // The greatest statistic of any run of the baseline against the others: what was normal.
  double greatest_normal = 0;
};

// The baseline's own statistics; made once for a baseline.
class ReferenceScores {
 public:
  ReferenceScores() = default;
  // Compares each run with the others.
  static ReferenceScores Of(const Baseline& baseline, const BaselineEnvelope& envelope,
                            const CompareOptions& options);
  explicit ReferenceScores(std::vector<SignalValues> statistics);

  // The combined statistic is -log of the least p-value of the other signals (Tippett, 1931), placed among
  // those of the runs like every other.
  std::array<SignalScore, kSignalCount> Score(const Comparison& comparison) const;

  size_t runs() const { return statistics_.size(); }
  double least_p_value() const { return 1.0 / (static_cast<double>(runs()) + 1); }

 private:
  double PValue(Signal signal, double statistic) const;

  std::vector<SignalValues> statistics_;  // by run, the combined one filled in
};

}  // namespace mempulse
