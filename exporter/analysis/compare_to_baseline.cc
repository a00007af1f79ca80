#include "exporter/analysis/compare_to_baseline.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace mempulse {
namespace {

struct Shift {
  double factor = 1;
  bool uniform = false;
};

// Ratios of the live curve to the middle run, rank by rank. A few fast pages move a few ratios, never their
// middle.
Shift FindShift(const RankCurve& live, const CurveEnvelope& envelope, const CompareOptions& options) {
  std::vector<double> ratios;
  size_t over = 0;
  for (const RankCurve::Point& point : live.points()) {
    const double middle = envelope.MedianAt(point.rank);
    if (middle < options.quiet_hertz || point.hertz < options.quiet_hertz || std::isinf(point.high)) continue;
    ratios.push_back(point.hertz / middle);
    over += point.hertz > middle * options.margin ? 1 : 0;
  }
  if (ratios.empty()) return {};
  const auto middle = ratios.begin() + static_cast<std::ptrdiff_t>(ratios.size() / 2);
  std::nth_element(ratios.begin(), middle, ratios.end());
  Shift shift;
  shift.factor = *middle;
  const auto alike = std::count_if(ratios.begin(), ratios.end(), [&](double ratio) {
    return ratio > shift.factor / options.shift_spread && ratio < shift.factor * options.shift_spread;
  });
  const auto wanted = options.shift_share * static_cast<double>(ratios.size());
  shift.uniform = shift.factor > options.margin && static_cast<double>(over) > wanted &&
                  static_cast<double>(alike) > wanted;
  return shift;
}

CurveComparison CompareCurve(const RankCurve& live, const CurveEnvelope& envelope, size_t without,
                             const CompareOptions& options) {
  CurveComparison result;
  const Shift shift = FindShift(live, envelope, options);
  result.shift_factor = shift.factor;
  result.shifted = shift.uniform;
  const double scale = shift.uniform ? shift.factor : 1;
  uint64_t rank = 1;
  const std::vector<RankCurve::Point>& points = live.points();
  for (size_t i = 0; i < points.size(); ++i) {
    const uint64_t end = i + 1 < points.size() ? points[i + 1].rank : live.pages() + 1;
    const uint64_t pages = end - points[i].rank;
    const double allowed = envelope.HighestAt(rank, options.quiet_hertz, without) * scale;
    if (points[i].low <= allowed * options.margin) {
      rank += pages;
      continue;
    }
    result.over_pages += pages;
    const double ratio = points[i].low / allowed;
    if (ratio <= result.excess_ratio) continue;
    result.excess_ratio = ratio;
    result.excess_rank = rank;
    result.excess_hertz = points[i].hertz;
    result.excess_baseline_hertz = allowed;
  }
  return result;
}

void CompareIdentities(const RunProfile& live, const BaselineEnvelope& envelope, size_t without,
                       const CompareOptions& options, Comparison* result) {
  const auto object_of = [&envelope](const std::string& id) -> int64_t {
    const auto found =
        std::lower_bound(envelope.objects.begin(), envelope.objects.end(), id,
                         [](const RunProfile::Object& a, const std::string& b) { return a.id < b; });
    if (found == envelope.objects.end() || found->id != id) return -1;
    return found - envelope.objects.begin();
  };
  std::vector<int64_t> known(live.objects.size());
  for (size_t i = 0; i < known.size(); ++i) known[i] = object_of(live.objects[i].id);
  const auto before = [](const IdentityEnvelope& a, const std::pair<int64_t, uint64_t>& b) {
    return std::pair<int64_t, uint64_t>(a.object, a.offset) < b;
  };
  for (const RunProfile::Identity& identity : live.identities) {
    if (identity.object >= known.size() || identity.low < options.quiet_hertz) continue;
    const RunProfile::Object& object = live.objects[identity.object];
    const std::pair<int64_t, uint64_t> key(known[identity.object], identity.offset);
    const auto found = std::lower_bound(envelope.identities.begin(), envelope.identities.end(), key, before);
    const bool listed =
        found != envelope.identities.end() && key.first == found->object && key.second == found->offset;
    const bool only_there = listed && found->runs == 1 && found->holder == without;
    if (!listed || only_there) {
      result->novel.push_back(
          {object.id, object.name, identity.offset, identity.hertz, identity.low, key.first < 0});
      continue;
    }
    const double highest =
        std::max<double>(found->holder == without ? found->second : found->highest, options.quiet_hertz);
    if (identity.low <= highest * options.identity_factor) continue;
    result->faster.push_back(
        {object.id, object.name, identity.offset, identity.hertz, highest, identity.low / highest});
  }
  std::stable_sort(result->novel.begin(), result->novel.end(),
                   [](const NovelIdentity& a, const NovelIdentity& b) { return a.hertz > b.hertz; });
  std::stable_sort(result->faster.begin(), result->faster.end(),
                   [](const FasterIdentity& a, const FasterIdentity& b) { return a.ratio > b.ratio; });
}

template <typename Population>
CeilingComparison CompareCeiling(const PagePopulation& live, const Baseline& baseline, size_t without,
                                 Population population) {
  CeilingComparison result;
  result.live = live.pages;
  result.baseline_least = std::numeric_limits<double>::infinity();
  double most = 0;
  double least_low = std::numeric_limits<double>::infinity();
  for (size_t run = 0; run < baseline.runs.size(); ++run) {
    if (run == without) continue;
    const PagePopulation& own = population(baseline.runs[run]);
    result.baseline_least = std::min(result.baseline_least, own.pages);
    result.baseline_most = std::max(result.baseline_most, own.pages);
    most = std::max(most, own.high);
    least_low = std::min(least_low, own.low);
  }
  if (baseline.thinned_runs > 0) {
    const PagePopulation& range = population(baseline.thinned);
    result.baseline_least = std::min(result.baseline_least, range.low);
    result.baseline_most = std::max(result.baseline_most, range.pages);
    most = std::max(most, range.high);
    least_low = std::min(least_low, range.low);
  }
  if (std::isinf(result.baseline_least)) return {live.pages, 0, 0, 0, false};
  result.above = std::max(0.0, live.low - most);
  result.below = live.high < least_low;
  return result;
}

Comparison Compare(const RunProfile& live, const Baseline& baseline, const BaselineEnvelope& envelope,
                   size_t without, const CompareOptions& options) {
  Comparison result;
  result.incomparable = WhyIncomparable(baseline.conditions, live.conditions);
  result.runs = baseline.runs.size() - (without == CurveEnvelope::kNone ? 0 : 1);
  result.seen_share = live.seen_share;
  if (result.incomparable.empty() && result.runs == 0) result.incomparable = "the baseline has no runs";
  if (!result.incomparable.empty()) return result;
  result.whole = CompareCurve(live.whole, envelope.whole, without, options);
  result.ceiling = CompareCeiling(live.ceiling, baseline, without,
                                  [](const RunProfile& run) -> const PagePopulation& { return run.ceiling; });
  for (size_t kind = 0; kind < result.kinds.size(); ++kind) {
    result.kinds[kind] = CompareCurve(live.kinds[kind], envelope.kinds[kind], without, options);
    result.ceiling_by_kind[kind] = CompareCeiling(
        live.ceiling_by_kind[kind], baseline, without,
        [kind](const RunProfile& run) -> const PagePopulation& { return run.ceiling_by_kind[kind]; });
  }
  CompareIdentities(live, envelope, without, options, &result);
  return result;
}

}  // namespace

Comparison CompareToBaseline(const RunProfile& live, const Baseline& baseline,
                             const BaselineEnvelope& envelope, const CompareOptions& options) {
  return Compare(live, baseline, envelope, CurveEnvelope::kNone, options);
}

Comparison CompareToOthers(size_t run, const Baseline& baseline, const BaselineEnvelope& envelope,
                           const CompareOptions& options) {
  return Compare(baseline.runs[run], baseline, envelope, run, options);
}

}  // namespace mempulse
