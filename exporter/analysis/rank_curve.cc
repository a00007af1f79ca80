#include "exporter/analysis/rank_curve.h"

#include <algorithm>
#include <cmath>

namespace mempulse {
namespace {

constexpr double kRankStep = 1.02;

RankCurve::Point PointOf(uint64_t rank, const RateClaim& claim) {
  return {rank, static_cast<float>(claim.hertz), static_cast<float>(claim.low),
          static_cast<float>(claim.high)};
}

}  // namespace

std::vector<uint64_t> ComparedRanks(uint64_t pages) {
  std::vector<uint64_t> ranks;
  for (uint64_t rank = 1; rank <= pages;) {
    ranks.push_back(rank);
    rank = rank < RankCurve::kDenseRanks
               ? rank + 1
               : static_cast<uint64_t>(std::ceil(static_cast<double>(rank) * kRankStep));
  }
  return ranks;
}

RankCurve RankCurve::FromClaims(std::vector<RateClaim> claims) {
  std::erase_if(claims, [](const RateClaim& claim) { return claim.weight <= 0 || claim.hertz <= 0; });
  std::stable_sort(claims.begin(), claims.end(),
                   [](const RateClaim& a, const RateClaim& b) { return a.hertz > b.hertz; });
  double total = 0;
  for (const RateClaim& claim : claims) total += claim.weight;
  RankCurve curve;
  curve.pages_ = static_cast<uint64_t>(std::llround(total));
  size_t next = 0;
  double up_to = claims.empty() ? 0 : claims[0].weight;
  for (const uint64_t rank : ComparedRanks(curve.pages_)) {
    // Weights are no whole numbers: a rank belongs to the claim that its middle falls into.
    while (next + 1 < claims.size() && up_to < static_cast<double>(rank) - 0.5)
      up_to += claims[++next].weight;
    curve.points_.push_back(PointOf(rank, claims[next]));
  }
  return curve;
}

RankCurve::Point RankCurve::At(uint64_t rank) const {
  if (rank == 0 || rank > pages_) return {rank, 0, 0, 0};
  const auto after =
      std::upper_bound(points_.begin(), points_.end(), rank,
                       [](uint64_t wanted, const Point& point) { return wanted < point.rank; });
  return after == points_.begin() ? Point{rank, 0, 0, 0} : *std::prev(after);
}

}  // namespace mempulse
