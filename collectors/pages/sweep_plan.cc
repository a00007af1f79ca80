#include "collectors/pages/sweep_plan.h"

#include <algorithm>
#include <limits>

namespace mempulse {
namespace {

// Of the pages that a fine rung draws, the share expected to stay unsaturated for its whole length.
constexpr double kOpenShare = 0.3;
constexpr double kBurstSpanSeconds = 0.1;
constexpr double kHandful = 8;
constexpr double kProbeLoad = 0.3;

double Share(double means, double cost) { return cost <= means ? 1 : std::max(0.0, means / cost); }

}  // namespace

double SecondsPerHit(const TrackerTraits& traits) {
  return traits.target_seconds_per_hit > 0 ? traits.target_seconds_per_hit : traits.seconds_per_page_looked;
}

WidePlan PlanWalk(uint64_t pages, const TrackerTraits& traits, const WideMeans& means) {
  WidePlan plan;
  const double look = static_cast<double>(pages) * traits.seconds_per_page_looked;
  if (look * kWideLooks <= means.own_seconds) return plan;
  plan.scout = true;
  plan.block_share = Share(means.own_seconds / 4, look);
  return plan;
}

double WidePageShare(const WidePopulation& population, const TrackerTraits& traits, const WideMeans& means) {
  const double hits = static_cast<double>(population.pages) * population.hit_share;
  const double hit_seconds = traits.target_seconds_per_hit * hits;
  // All pages stay for the looks that may saturate them, about half of them for the rest.
  const double looks = kPromotionLooks + (kWideLooks - kPromotionLooks) / 2;
  const double by_total = Share(means.target_seconds, hit_seconds * looks);
  const double by_burst = Share(means.burst_ratio * means.window_seconds, hit_seconds);
  const double look_seconds = static_cast<double>(population.pages) * population.own_seconds_per_page;
  return std::min({by_total, by_burst, Share(means.own_seconds, look_seconds * kWideLooks)});
}

size_t MostPagesTogether(const TrackerTraits& traits, double window_seconds) {
  if (traits.target_seconds_per_hit <= 0) return std::numeric_limits<size_t>::max() / 2;
  return static_cast<size_t>(std::max(1.0, kProbeLoad * window_seconds / traits.target_seconds_per_hit));
}

double FinePageShare(uint64_t pages, const TrackerTraits& traits, const FineMeans& means) {
  const double hit = SecondsPerHit(traits);
  const double count = static_cast<double>(pages);
  const double looks = means.duration_seconds / means.window_seconds;
  const double page_seconds = hit * (means.verdict_looks + kOpenShare * std::min<double>(looks, kEnoughHits));
  const double burst_seconds = means.burst_ratio * kBurstSpanSeconds;
  const double share = std::min(Share(means.seconds, count * page_seconds),
                                Share(burst_seconds, count * hit * (means.verdict_looks + 2)));
  const double handful = std::min(1.0, kHandful / std::max(1.0, count));
  if (share >= handful) return share;
  const bool affordable = handful * count * hit * means.verdict_looks <= means.seconds;
  return affordable ? handful : 0;
}

}  // namespace mempulse
