#include "exporter/analysis/baseline.h"

#include <algorithm>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"

namespace mempulse {
namespace {

// Keeps the two highest values and who holds the highest.
template <typename Kept>
void Raise(float high, uint32_t run, Kept* kept) {
  if (high > kept->highest) {
    kept->second = kept->highest;
    kept->highest = high;
    kept->holder = run;
  } else if (high > kept->second) {
    kept->second = high;
  }
}

void AddIdentities(const Baseline& baseline, BaselineEnvelope* envelope) {
  std::map<std::string, std::string> names;
  std::vector<const RunProfile*> runs;
  for (const RunProfile& run : baseline.runs) runs.push_back(&run);
  runs.push_back(&baseline.thinned);
  for (const RunProfile* run : runs) {
    for (const RunProfile::Object& object : run->objects) names.try_emplace(object.id, object.name);
  }
  for (auto& [id, name] : names) envelope->objects.push_back({id, name});
  std::map<std::pair<uint32_t, uint64_t>, IdentityEnvelope> found;
  for (uint32_t run = 0; run < runs.size(); ++run) {
    const RunProfile& profile = *runs[run];
    std::vector<uint32_t> index(profile.objects.size());
    for (size_t i = 0; i < index.size(); ++i) {
      const auto object =
          std::lower_bound(envelope->objects.begin(), envelope->objects.end(), profile.objects[i].id,
                           [](const RunProfile::Object& a, const std::string& id) { return a.id < id; });
      index[i] = static_cast<uint32_t>(object - envelope->objects.begin());
    }
    for (const RunProfile::Identity& identity : profile.identities) {
      if (identity.object >= index.size()) continue;
      IdentityEnvelope& kept = found[{index[identity.object], identity.offset}];
      kept.object = index[identity.object];
      kept.offset = identity.offset;
      ++kept.runs;
      Raise(identity.high, run, &kept);
    }
  }
  envelope->identities.reserve(found.size());
  for (const auto& [key, identity] : found) envelope->identities.push_back(identity);
}

// The upper edge of two curves.
RankCurve Higher(const RankCurve& a, const RankCurve& b) {
  const uint64_t pages = std::max(a.pages(), b.pages());
  std::vector<RankCurve::Point> points;
  for (const uint64_t rank : ComparedRanks(pages)) {
    const RankCurve::Point one = a.At(rank);
    const RankCurve::Point other = b.At(rank);
    points.push_back({rank, std::max(one.hertz, other.hertz), std::max(one.low, other.low),
                      std::max(one.high, other.high)});
  }
  return {std::move(points), pages};
}

PagePopulation Wider(const PagePopulation& range, const PagePopulation& run) {
  return {std::max(range.pages, run.pages), std::min(range.low, run.low), std::max(range.high, run.high)};
}

std::vector<RunProfile::Object> ObjectsOfBoth(const RunProfile& a, const RunProfile& b) {
  std::vector<RunProfile::Object> objects = a.objects;
  for (const RunProfile::Object& object : b.objects) {
    const auto at =
        std::lower_bound(objects.begin(), objects.end(), object.id,
                         [](const RunProfile::Object& one, const std::string& id) { return one.id < id; });
    if (at == objects.end() || at->id != object.id) objects.insert(at, object);
  }
  return objects;
}

void FoldIdentities(const RunProfile& run, RunProfile* edge) {
  std::vector<RunProfile::Object> objects = ObjectsOfBoth(*edge, run);
  std::map<std::pair<uint32_t, uint64_t>, RunProfile::Identity> folded;
  for (const RunProfile* profile : {static_cast<const RunProfile*>(edge), &run}) {
    for (RunProfile::Identity identity : profile->identities) {
      const std::string& id = profile->objects[identity.object].id;
      identity.object =
          static_cast<uint32_t>(std::lower_bound(objects.begin(), objects.end(), id,
                                                 [](const RunProfile::Object& one,
                                                    const std::string& wanted) { return one.id < wanted; }) -
                                objects.begin());
      RunProfile::Identity& kept = folded[{identity.object, identity.offset}];
      kept.object = identity.object;
      kept.offset = identity.offset;
      kept.hertz = std::max(kept.hertz, identity.hertz);
      kept.low = std::max(kept.low, identity.low);
      kept.high = std::max(kept.high, identity.high);
    }
  }
  edge->objects = std::move(objects);
  edge->identities.clear();
  for (const auto& [key, identity] : folded) edge->identities.push_back(identity);
}

void FoldRun(const RunProfile& run, Baseline* baseline) {
  RunProfile& edge = baseline->thinned;
  if (baseline->thinned_runs == 0) edge = run;
  edge.whole = Higher(edge.whole, run.whole);
  edge.ceiling = Wider(edge.ceiling, run.ceiling);
  for (size_t kind = 0; kind < edge.kinds.size(); ++kind) {
    edge.kinds[kind] = Higher(edge.kinds[kind], run.kinds[kind]);
    edge.ceiling_by_kind[kind] = Wider(edge.ceiling_by_kind[kind], run.ceiling_by_kind[kind]);
  }
  if (baseline->thinned_runs > 0) FoldIdentities(run, &edge);
  edge.taken_at = run.taken_at;
  ++baseline->thinned_runs;
}

void Thin(size_t most_runs, Baseline* baseline) {
  while (baseline->runs.size() > most_runs) {
    FoldRun(baseline->runs.front(), baseline);
    baseline->runs.erase(baseline->runs.begin());
  }
}

}  // namespace

CurveEnvelope::CurveEnvelope(absl::Span<const RankCurve* const> curves) {
  for (const RankCurve* curve : curves) pages_ = std::max(pages_, curve->pages());
  std::vector<size_t> next(curves.size(), 0);
  std::vector<float> middle;
  for (const uint64_t rank : ComparedRanks(pages_)) {
    Edge edge;
    edge.rank = rank;
    middle.clear();
    for (size_t run = 0; run < curves.size(); ++run) {
      const std::vector<RankCurve::Point>& points = curves[run]->points();
      while (next[run] + 1 < points.size() && points[next[run] + 1].rank <= rank) ++next[run];
      const bool has = rank <= curves[run]->pages() && !points.empty();
      middle.push_back(has ? points[next[run]].hertz : 0);
      if (has) Raise(points[next[run]].high, static_cast<uint32_t>(run), &edge);
    }
    std::nth_element(middle.begin(), middle.begin() + static_cast<std::ptrdiff_t>(middle.size() / 2),
                     middle.end());
    edge.median = middle[middle.size() / 2];
    edges_.push_back(edge);
  }
}

const CurveEnvelope::Edge* CurveEnvelope::Find(uint64_t rank) const {
  if (rank == 0 || rank > pages_) return nullptr;
  if (rank <= RankCurve::kDenseRanks) return &edges_[rank - 1];
  const auto after = std::upper_bound(edges_.begin(), edges_.end(), rank,
                                      [](uint64_t wanted, const Edge& edge) { return wanted < edge.rank; });
  return &*std::prev(after);
}

double CurveEnvelope::HighestAt(uint64_t rank, double quiet_hertz, size_t without) const {
  const Edge* edge = Find(rank);
  if (edge == nullptr) return quiet_hertz;
  const float high = edge->holder == without ? edge->second : edge->highest;
  return std::max<double>(high, quiet_hertz);
}

double CurveEnvelope::MedianAt(uint64_t rank) const {
  const Edge* edge = Find(rank);
  return edge == nullptr ? 0 : edge->median;
}

absl::Status AddRun(RunProfile run, size_t most_runs, Baseline* baseline) {
  if (baseline->runs.empty() && baseline->thinned_runs == 0) {
    baseline->conditions = run.conditions;
    baseline->build_id = run.build_id;
  }
  if (run.build_id != baseline->build_id) {
    return absl::InvalidArgumentError(
        absl::StrCat("the baseline is of build ", baseline->build_id, ", this run of ", run.build_id));
  }
  if (std::string why = WhyIncomparable(baseline->conditions, run.conditions); !why.empty()) {
    return absl::InvalidArgumentError(why);
  }
  if (baseline->conditions.reference_window == absl::ZeroDuration()) {
    baseline->conditions.reference_window = run.conditions.reference_window;
  }
  baseline->runs.push_back(std::move(run));
  Thin(most_runs, baseline);
  return absl::OkStatus();
}

absl::StatusOr<Baseline> MergeBaselines(const Baseline& a, const Baseline& b, size_t most_runs) {
  if (a.group != b.group) {
    return absl::InvalidArgumentError(absl::StrCat("one is of group ", a.group, ", the other of ", b.group));
  }
  if (a.build_id != b.build_id) {
    return absl::InvalidArgumentError(
        absl::StrCat("one is of build ", a.build_id, ", the other of ", b.build_id));
  }
  if (std::string why = WhyIncomparable(a.conditions, b.conditions); !why.empty()) {
    return absl::InvalidArgumentError(why);
  }
  Baseline merged = a;
  if (merged.conditions.reference_window == absl::ZeroDuration()) merged.conditions = b.conditions;
  merged.runs.insert(merged.runs.end(), b.runs.begin(), b.runs.end());
  std::stable_sort(
      merged.runs.begin(), merged.runs.end(),
      [](const RunProfile& one, const RunProfile& other) { return one.taken_at < other.taken_at; });
  if (b.thinned_runs > 0) {
    FoldRun(b.thinned, &merged);
    merged.thinned_runs += b.thinned_runs - 1;
  }
  Thin(most_runs, &merged);
  return merged;
}

BaselineEnvelope EnvelopeOf(const Baseline& baseline) {
  BaselineEnvelope envelope;
  envelope.runs = baseline.runs.size();
  std::vector<const RankCurve*> curves;
  for (const RunProfile& run : baseline.runs) curves.push_back(&run.whole);
  if (baseline.thinned_runs > 0) curves.push_back(&baseline.thinned.whole);
  envelope.whole = CurveEnvelope(curves);
  for (size_t kind = 0; kind < envelope.kinds.size(); ++kind) {
    for (size_t run = 0; run < curves.size(); ++run) {
      curves[run] =
          run < baseline.runs.size() ? &baseline.runs[run].kinds[kind] : &baseline.thinned.kinds[kind];
    }
    envelope.kinds[kind] = CurveEnvelope(curves);
  }
  AddIdentities(baseline, &envelope);
  return envelope;
}

}  // namespace mempulse
