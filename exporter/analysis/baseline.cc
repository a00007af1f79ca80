#include "exporter/analysis/baseline.h"

#include <algorithm>
#include <map>

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
  for (const RunProfile& run : baseline.runs) {
    for (const RunProfile::Object& object : run.objects) names.try_emplace(object.id, object.name);
  }
  for (auto& [id, name] : names) envelope->objects.push_back({id, name});
  std::map<std::pair<uint32_t, uint64_t>, IdentityEnvelope> found;
  for (uint32_t run = 0; run < baseline.runs.size(); ++run) {
    const RunProfile& profile = baseline.runs[run];
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

BaselineEnvelope EnvelopeOf(const Baseline& baseline) {
  BaselineEnvelope envelope;
  envelope.runs = baseline.runs.size();
  std::vector<const RankCurve*> curves;
  for (const RunProfile& run : baseline.runs) curves.push_back(&run.whole);
  envelope.whole = CurveEnvelope(curves);
  for (size_t kind = 0; kind < envelope.kinds.size(); ++kind) {
    for (size_t run = 0; run < curves.size(); ++run) curves[run] = &baseline.runs[run].kinds[kind];
    envelope.kinds[kind] = CurveEnvelope(curves);
  }
  AddIdentities(baseline, &envelope);
  return envelope;
}

}  // namespace mempulse
