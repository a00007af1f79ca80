#include "exporter/analysis/scores.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace mempulse {
namespace {

size_t IndexOf(Signal signal) { return static_cast<size_t>(signal); }

double LogRatio(double ratio) { return ratio > 1 ? std::log(ratio) : 0; }

}  // namespace

absl::string_view SignalName(Signal signal) {
  switch (signal) {
    case Signal::kNovel:
      return "novel";
    case Signal::kIdentityRate:
      return "identity_rate";
    case Signal::kCurveSpike:
      return "curve_spike";
    case Signal::kCurveShift:
      return "curve_shift";
    case Signal::kCeilingPopulation:
      return "ceiling_population";
    case Signal::kCombined:
      return "combined";
  }
  return "";
}

SignalValues StatisticsOf(const Comparison& comparison) {
  SignalValues values{};
  values[IndexOf(Signal::kNovel)] = static_cast<double>(comparison.novel.size());
  if (!comparison.faster.empty()) {
    values[IndexOf(Signal::kIdentityRate)] = LogRatio(comparison.faster.front().ratio);
  }
  double spike = LogRatio(comparison.whole.excess_ratio);
  double above = comparison.ceiling.above;
  for (size_t kind = 0; kind < comparison.kinds.size(); ++kind) {
    spike = std::max(spike, LogRatio(comparison.kinds[kind].excess_ratio));
    above = std::max(above, comparison.ceiling_by_kind[kind].above);
  }
  values[IndexOf(Signal::kCurveSpike)] = spike;
  values[IndexOf(Signal::kCurveShift)] =
      comparison.whole.shifted ? LogRatio(comparison.whole.shift_factor) : 0;
  values[IndexOf(Signal::kCeilingPopulation)] = above;
  return values;
}

ReferenceScores::ReferenceScores(std::vector<SignalValues> statistics) : statistics_(std::move(statistics)) {
  std::vector<double> combined;
  for (const SignalValues& own : statistics_) {
    double least = 1;
    for (const Signal signal : kAllSignals) {
      if (signal == Signal::kCombined) continue;
      // A run counts among those that are as great as itself.
      least = std::min(least, PValue(signal, own[IndexOf(signal)]));
    }
    combined.push_back(-std::log(least));
  }
  for (size_t run = 0; run < combined.size(); ++run)
    statistics_[run][IndexOf(Signal::kCombined)] = combined[run];
}

ReferenceScores ReferenceScores::Of(const Baseline& baseline, const BaselineEnvelope& envelope,
                                    const CompareOptions& options) {
  std::vector<SignalValues> statistics;
  for (size_t run = 0; run < baseline.runs.size(); ++run) {
    statistics.push_back(StatisticsOf(CompareToOthers(run, baseline, envelope, options)));
  }
  return ReferenceScores(std::move(statistics));
}

double ReferenceScores::PValue(Signal signal, double statistic) const {
  // Nothing over the baseline is nothing strange, however the runs compare among each other.
  if (statistic <= 0) return 1;
  const auto as_great = std::count_if(statistics_.begin(), statistics_.end(), [&](const SignalValues& own) {
    return own[IndexOf(signal)] >= statistic;
  });
  return (1 + static_cast<double>(as_great)) / (static_cast<double>(runs()) + 1);
}

std::array<SignalScore, kSignalCount> ReferenceScores::Score(const Comparison& comparison) const {
  std::array<SignalScore, kSignalCount> scores;
  if (!comparison.incomparable.empty()) return scores;
  SignalValues values = StatisticsOf(comparison);
  double least = 1;
  for (const Signal signal : kAllSignals) {
    SignalScore& score = scores[IndexOf(signal)];
    if (signal == Signal::kCombined) values[IndexOf(signal)] = -std::log(least);
    score.statistic = values[IndexOf(signal)];
    score.p_value = PValue(signal, score.statistic);
    for (const SignalValues& own : statistics_) {
      score.greatest_normal = std::max(score.greatest_normal, own[IndexOf(signal)]);
    }
    least = std::min(least, score.p_value);
  }
  return scores;
}

}  // namespace mempulse
