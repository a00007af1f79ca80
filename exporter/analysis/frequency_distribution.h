#pragma once

#include <array>
#include <cstdint>

#include "absl/strings/string_view.h"
#include "collectors/targets/region_kind.h"
#include "exporter/analysis/page_frequency.h"

namespace mempulse {

// Decade bands by frequency in hertz, slowest first: "lt_0.1", "0.1_1", "1_10", "10_100", "100_1k", "1k_10k",
// "10k_100k", "ge_100k". A page at ceiling is in none of them (it is counted as ceiling population instead).
inline constexpr int kBandCount = 8;
absl::string_view BandName(int band);
int BandOf(double hertz);

struct KindDistribution {
  std::array<double, kBandCount> pages{};          // estimates: sums of weights
  std::array<double, kPageStateCount> by_state{};  // all listed pages by PageState
  double at_ceiling_now = 0;                       // state at_ceiling
  double ceiling_population = 0;                   // saturated on the reference rung
  double ceiling_low = 0;  // 95 % interval of the population when pages were sampled; equal otherwise
  double ceiling_high = 0;
};

// By region kind, in the order of kAllRegionKinds; pages in `measured` and `too_few` with a frequency are in
// bands.
struct FrequencyDistribution {
  std::array<KindDistribution, kAllRegionKinds.size()> kinds;
  double hottest_hertz = 0;  // fastest frequency or floor of any page
  uint64_t hottest_address = 0;
};

FrequencyDistribution Distribute(const FrequencyMap& map);

}  // namespace mempulse
