#include "exporter/analysis/frequency_distribution.h"

#include <algorithm>

#include "exporter/analysis/confidence.h"

namespace mempulse {
namespace {

constexpr std::array<absl::string_view, kBandCount> kBandNames = {"lt_0.1", "0.1_1",  "1_10",     "10_100",
                                                                  "100_1k", "1k_10k", "10k_100k", "ge_100k"};
constexpr std::array<double, kBandCount - 1> kBandStarts = {0.1, 1, 10, 100, 1e3, 1e4, 1e5};
constexpr double kConfidence = 1.96;

// Pages of one kind that bear on its ceiling population.
struct CeilingCount {
  double seen = 0;
  double undrawn = 0;
};

void Bound(const CeilingCount& count, const FrequencyMap& map, KindDistribution* kind) {
  const double estimate = kind->ceiling_population;
  const double share = std::clamp(
      count.seen > 0 ? count.seen / std::max(estimate, count.seen) : map.reference_share, 1e-6, 1.0);
  const Interval bounds = SampledPopulation(count.seen, share, kConfidence);
  // A page that was not saturated on the rungs above cannot be at the ceiling.
  const double most = (count.seen + count.undrawn) / std::clamp(map.wide_share, 1e-6, 1.0);
  kind->ceiling_low = std::min(bounds.low, estimate);
  kind->ceiling_high = std::max(estimate, map.wide_share < 1 ? bounds.high : std::min(bounds.high, most));
}

}  // namespace

absl::string_view BandName(int band) { return kBandNames.at(band); }

int BandOf(double hertz) {
  return static_cast<int>(std::upper_bound(kBandStarts.begin(), kBandStarts.end(), hertz) -
                          kBandStarts.begin());
}

FrequencyDistribution Distribute(const FrequencyMap& map) {
  FrequencyDistribution result;
  std::array<CeilingCount, kAllRegionKinds.size()> ceilings{};
  for (const PageFrequency& page : map.pages) {
    const auto index = static_cast<size_t>(page.kind);
    KindDistribution& kind = result.kinds[index];
    kind.by_state[static_cast<size_t>(page.state)] += page.weight;
    if (page.state == PageState::kAtCeiling) kind.at_ceiling_now += page.weight;
    if ((page.state == PageState::kMeasured || page.state == PageState::kTooFew) &&
        page.frequency_hertz > 0) {
      kind.pages[BandOf(page.frequency_hertz)] += page.weight;
    }
    if (page.saturated_at_reference) {
      kind.ceiling_population += page.reference_weight;
      ceilings[index].seen += 1;
    }
    if (page.undrawn_at_reference) ceilings[index].undrawn += 1;
    if (page.frequency_hertz > result.hottest_hertz) {
      result.hottest_hertz = page.frequency_hertz;
      result.hottest_address = page.address;
    }
  }
  for (size_t i = 0; i < ceilings.size(); ++i) Bound(ceilings[i], map, &result.kinds[i]);
  return result;
}

}  // namespace mempulse
