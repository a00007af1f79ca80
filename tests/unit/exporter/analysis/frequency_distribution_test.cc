#include "exporter/analysis/frequency_distribution.h"

#include <cstdio>
#include <ctime>

#include "exporter/analysis/hot_regions.h"
#include "gtest/gtest.h"

namespace mempulse {
namespace {

constexpr size_t kHeap = static_cast<size_t>(RegionKind::kHeap);

PageFrequency Page(uint64_t index, PageState state, double hertz, double weight = 1) {
  PageFrequency page;
  page.address = 0x1000000 + index * kPageSize;
  page.state = state;
  page.frequency_hertz = hertz;
  page.low_hertz = hertz * 0.99;
  page.high_hertz = hertz * 1.01;
  page.kind = RegionKind::kHeap;
  page.weight = page.reference_weight = weight;
  page.rungs = {{absl::Milliseconds(20), 400, 40}};
  return page;
}

TEST(Bands, EdgesBelongToTheUpperBand) {
  EXPECT_EQ(BandName(BandOf(0.0999)), "lt_0.1");
  EXPECT_EQ(BandName(BandOf(0.1)), "0.1_1");
  EXPECT_EQ(BandName(BandOf(5)), "1_10");
  EXPECT_EQ(BandName(BandOf(200)), "100_1k");
  EXPECT_EQ(BandName(BandOf(99999)), "10k_100k");
  EXPECT_EQ(BandName(BandOf(1e5)), "ge_100k");
}

TEST(Distribute, SumsWeightsByKindBandAndState) {
  FrequencyMap map;
  map.pages = {Page(0, PageState::kMeasured, 5, 2), Page(1, PageState::kTooFew, 0.2),
               Page(2, PageState::kUnfit, 30), Page(3, PageState::kAtCeiling, 4000)};
  map.pages[3].saturated_at_reference = true;
  const FrequencyDistribution distribution = Distribute(map);
  const KindDistribution& heap = distribution.kinds[kHeap];
  EXPECT_EQ(heap.pages[BandOf(5)], 2);
  EXPECT_EQ(heap.pages[BandOf(0.2)], 1);
  EXPECT_EQ(heap.pages[BandOf(30)], 0);
  EXPECT_EQ(heap.pages[BandOf(4000)], 0);
  EXPECT_EQ(heap.by_state[static_cast<size_t>(PageState::kUnfit)], 1);
  EXPECT_EQ(heap.at_ceiling_now, 1);
  EXPECT_EQ(heap.ceiling_population, 1);
  EXPECT_EQ(heap.ceiling_low, 1);
  EXPECT_EQ(heap.ceiling_high, 1);
  EXPECT_EQ(distribution.hottest_hertz, 4000);
  EXPECT_EQ(distribution.hottest_address, map.pages[3].address);
  EXPECT_EQ(distribution.kinds[0].ceiling_high, 0);
}

TEST(Distribute, SampledCeilingHasAnInterval) {
  FrequencyMap map;
  map.reference_share = 0.1;
  for (uint64_t i = 0; i < 20; ++i) {
    map.pages.push_back(Page(i, PageState::kAtCeiling, 4000, 10));
    map.pages.back().saturated_at_reference = true;
  }
  for (uint64_t i = 20; i < 210; ++i) {
    map.pages.push_back(Page(i, PageState::kAtCeiling, 1000, 0));
    map.pages.back().undrawn_at_reference = true;
  }
  const KindDistribution heap = Distribute(map).kinds[kHeap];
  EXPECT_EQ(heap.ceiling_population, 200);
  EXPECT_NEAR(heap.ceiling_low, 133, 10);
  EXPECT_EQ(heap.ceiling_high, 210);  // no more than could be
}

TEST(Distribute, NoneOfTheDrawnStillLeavesRoom) {
  FrequencyMap map;
  map.reference_share = 0.5;
  for (uint64_t i = 0; i < 3; ++i) {
    map.pages.push_back(Page(i, PageState::kAtCeiling, 1000));
    map.pages.back().undrawn_at_reference = true;
  }
  const KindDistribution heap = Distribute(map).kinds[kHeap];
  EXPECT_EQ(heap.ceiling_population, 0);
  EXPECT_EQ(heap.ceiling_low, 0);
  EXPECT_EQ(heap.ceiling_high, 3);
}

TEST(Distribute, HundredThousandPagesAreFast) {
  FrequencyMap map;
  for (uint64_t i = 0; i < 100000; ++i) {
    map.pages.push_back(Page(i, PageState::kMeasured, 1 + static_cast<double>(i * 7919 % 1000)));
  }
  // CPU time: other tests run beside this one.
  const std::clock_t start = std::clock();
  Distribute(map);
  const std::clock_t middle = std::clock();
  EXPECT_GT(MergeHotRegions(map).size(), 90000U);
  const std::clock_t end = std::clock();
  const auto milliseconds = [](std::clock_t ticks) {
    return 1000.0 * static_cast<double>(ticks) / CLOCKS_PER_SEC;
  };
  std::printf("100k pages: distribution %.1f ms, hot regions %.1f ms\n", milliseconds(middle - start),
              milliseconds(end - middle));
}

}  // namespace
}  // namespace mempulse
