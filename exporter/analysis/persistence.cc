#include "exporter/analysis/persistence.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "collectors/targets/region_kind.h"

namespace mempulse {
namespace {

std::string PlaceOf(const std::string& name, uint64_t offset) {
  return absl::StrCat(name, "+0x", absl::Hex(offset));
}

const SignalScore& Of(const std::array<SignalScore, kSignalCount>& scores, Signal signal) {
  return scores[static_cast<size_t>(signal)];
}

// A ratio that is over the runs and over what they differ among each other.
bool Exceeds(double ratio, double factor, const SignalScore& score, const SuspicionOptions& options) {
  return ratio >= factor && ratio >= std::exp(score.greatest_normal) * options.beyond_normal;
}

void AddCurve(const CurveComparison& curve, const std::string& place, const SignalScore& score, size_t runs,
              const SuspicionOptions& options, std::vector<Suspicion>* suspicions) {
  if (!Exceeds(curve.excess_ratio, options.spike_factor, score, options)) return;
  suspicions->push_back(
      {Signal::kCurveSpike, absl::StrCat("curve_spike/", place),
       absl::StrCat(place, " memory, rank ", curve.excess_rank, ", ", curve.over_pages, " pages"),
       curve.excess_hertz, curve.excess_baseline_hertz, score.p_value, runs});
}

void AddCeiling(const CeilingComparison& ceiling, const std::string& place, const SignalScore& score,
                size_t runs, const SuspicionOptions& options, std::vector<Suspicion>* suspicions) {
  if (ceiling.above <= score.greatest_normal * options.beyond_normal) return;
  suspicions->push_back({Signal::kCeilingPopulation, absl::StrCat("ceiling_population/", place),
                         absl::StrCat(place, " memory"), ceiling.live, ceiling.baseline_most, score.p_value,
                         runs});
}

}  // namespace

std::vector<Suspicion> SuspicionsOf(const Comparison& comparison,
                                    const std::array<SignalScore, kSignalCount>& scores, size_t runs,
                                    const SuspicionOptions& options) {
  std::vector<Suspicion> suspicions;
  if (!comparison.incomparable.empty()) return suspicions;
  for (size_t i = 0; i < std::min(options.most, comparison.novel.size()); ++i) {
    const NovelIdentity& novel = comparison.novel[i];
    suspicions.push_back({Signal::kNovel, absl::StrCat("novel/", PlaceOf(novel.object, novel.offset)),
                          PlaceOf(novel.name, novel.offset), novel.hertz, 0,
                          Of(scores, Signal::kNovel).p_value, runs});
  }
  const SignalScore& rate = Of(scores, Signal::kIdentityRate);
  for (size_t i = 0; i < std::min(options.most, comparison.faster.size()); ++i) {
    const FasterIdentity& faster = comparison.faster[i];
    if (!Exceeds(faster.ratio, options.spike_factor, rate, options)) break;
    suspicions.push_back(
        {Signal::kIdentityRate, absl::StrCat("identity_rate/", PlaceOf(faster.object, faster.offset)),
         PlaceOf(faster.name, faster.offset), faster.hertz, faster.baseline_hertz, rate.p_value, runs});
  }
  const SignalScore& spike = Of(scores, Signal::kCurveSpike);
  const SignalScore& above = Of(scores, Signal::kCeilingPopulation);
  AddCurve(comparison.whole, "all", spike, runs, options, &suspicions);
  AddCeiling(comparison.ceiling, "all", above, runs, options, &suspicions);
  for (size_t kind = 0; kind < comparison.kinds.size(); ++kind) {
    const std::string name(RegionKindName(kAllRegionKinds[kind]));
    AddCurve(comparison.kinds[kind], name, spike, runs, options, &suspicions);
    AddCeiling(comparison.ceiling_by_kind[kind], name, above, runs, options, &suspicions);
  }
  const SignalScore& shift = Of(scores, Signal::kCurveShift);
  if (comparison.whole.shifted &&
      Exceeds(comparison.whole.shift_factor, options.shift_factor, shift, options)) {
    suspicions.push_back({Signal::kCurveShift, "curve_shift/all", "the process as a whole",
                          comparison.whole.shift_factor, 1, shift.p_value, runs});
  }
  return suspicions;
}

std::vector<Finding> Persistence::Add(const std::vector<Suspicion>& suspicions, absl::Time at) {
  const uint64_t mask = window_ >= 64 ? ~uint64_t{0} : (uint64_t{1} << window_) - 1;
  for (auto& [key, known] : known_) known.seen = (known.seen << 1) & mask;
  std::vector<Finding> confirmed;
  for (const Suspicion& suspicion : suspicions) {
    Known& known = known_[suspicion.key];
    if (known.seen == 0) known.finding.since = at;
    known.seen |= 1;
    known.finding.suspicion = suspicion;
    ++known.finding.sweeps;
    if (known.confirmed || std::popcount(known.seen) < static_cast<int>(wanted_)) continue;
    known.confirmed = true;
    known.finding.confirmed_at = at;
    confirmed.push_back(known.finding);
  }
  std::erase_if(known_, [](const auto& entry) { return entry.second.seen == 0; });
  return confirmed;
}

std::vector<Finding> Persistence::Current() const {
  std::vector<Finding> findings;
  for (const auto& [key, known] : known_) {
    if (known.confirmed) findings.push_back(known.finding);
  }
  return findings;
}

}  // namespace mempulse
