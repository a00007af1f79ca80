#include "exporter/analysis/hot_regions.h"

#include <cmath>

#include "gtest/gtest.h"

namespace mempulse {
namespace {

PageFrequency Page(uint64_t index, PageState state, double hertz, double error = 0.01) {
  PageFrequency page;
  page.address = 0x1000000 + index * kPageSize;
  page.state = state;
  page.frequency_hertz = hertz;
  page.low_hertz = hertz * (1 - error);
  page.high_hertz = hertz * (1 + error);
  page.region = 0;
  page.kind = RegionKind::kHeap;
  page.rungs = {{absl::Milliseconds(20), 400, 40}};
  return page;
}

TEST(MergeHotRegions, JoinsRunsOfLikePages) {
  FrequencyMap map;
  for (uint64_t i = 0; i < 8; ++i)
    map.pages.push_back(Page(i, PageState::kMeasured, 200 + (i % 2 == 0 ? 3 : -3)));
  for (uint64_t i = 8; i < 16; ++i) map.pages.push_back(Page(i, PageState::kMeasured, 5));
  for (uint64_t i = 16; i < 20; ++i) map.pages.push_back(Page(i, PageState::kAtCeiling, 49000 + 100.0 * i));
  const std::vector<HotRegion> regions = MergeHotRegions(map);
  ASSERT_EQ(regions.size(), 3U);
  EXPECT_EQ(regions[0].state, PageState::kAtCeiling);
  EXPECT_EQ(regions[0].end - regions[0].start, 4 * kPageSize);
  EXPECT_EQ(regions[1].start, 0x1000000U);
  EXPECT_EQ(regions[1].end, 0x1000000U + 8 * kPageSize);
  EXPECT_NEAR(regions[1].frequency_hertz, 200, 1e-9);
  EXPECT_NEAR(regions[1].low_hertz, 197 * 0.99, 1e-9);
  EXPECT_NEAR(regions[1].high_hertz, 203 * 1.01, 1e-9);
  EXPECT_EQ(regions[1].weight, 8);
  ASSERT_EQ(regions[1].rungs.size(), 1U);
  EXPECT_EQ(regions[1].rungs[0].looks, 3200U);
  EXPECT_EQ(regions[1].rungs[0].hits, 320U);
  EXPECT_EQ(regions[2].frequency_hertz, 5);
  EXPECT_GT(regions[0].z, regions[1].z);
}

TEST(MergeHotRegions, HolesStatesAndMappingsPart) {
  FrequencyMap map;
  map.pages = {Page(0, PageState::kMeasured, 5), Page(2, PageState::kMeasured, 5),
               Page(3, PageState::kUnfit, 5), Page(4, PageState::kMeasured, 5),
               Page(5, PageState::kMeasured, 5)};
  map.pages[4].region = 1;
  EXPECT_EQ(MergeHotRegions(map).size(), 5U);
}

TEST(MergeHotRegions, ASlopeIsNotOneRegion) {
  FrequencyMap map;
  for (uint64_t i = 0; i < 40; ++i) {
    map.pages.push_back(Page(i, PageState::kMeasured, 10 * std::pow(1.15, static_cast<double>(i)), 0.2));
  }
  for (const HotRegion& region : MergeHotRegions(map)) EXPECT_LE(region.high_hertz / region.low_hertz, 3.1);
}

TEST(MergeHotRegions, CeilingComesBeforeFasterMeasuredPages) {
  FrequencyMap map;
  map.pages = {Page(0, PageState::kMeasured, 20000), Page(9, PageState::kAtCeiling, 50)};
  EXPECT_EQ(MergeHotRegions(map)[0].state, PageState::kAtCeiling);
  EXPECT_TRUE(MergeHotRegions({}).empty());
}

TEST(RobustZ, MedianAndMad) {
  // Median 3, absolute deviations 2 1 0 1 97: MAD 1.
  const std::vector<double> z = RobustZ({1, 2, 3, 4, 100});
  EXPECT_NEAR(z[0], -2 * 0.6745, 1e-9);
  EXPECT_NEAR(z[2], 0, 1e-9);
  EXPECT_NEAR(z[4], 97 * 0.6745, 1e-9);
}

TEST(RobustZ, MeanDeviationWhenMadIsZero) {
  const std::vector<double> z = RobustZ({5, 5, 5, 5, 15});  // MAD 0, mean absolute deviation 2
  EXPECT_EQ(z[0], 0);
  EXPECT_NEAR(z[4], 10 / (1.2533 * 2), 1e-9);
}

TEST(RobustZ, EqualValuesAndNone) {
  EXPECT_EQ(RobustZ({7, 7, 7}), (std::vector<double>{0, 0, 0}));
  EXPECT_TRUE(RobustZ({}).empty());
}

TEST(IdentifyPage, FilePagesByBuildIdOrInode) {
  SweepRegion region;
  region.range = {0x7000, 0xa000};
  region.kind = static_cast<int>(RegionKind::kFileData);
  region.offset = 0x3000;
  region.inode = 42;
  region.device_major = 8;
  region.device_minor = 1;
  EXPECT_EQ(IdentifyPage(region, 0x8000).object, "file:8:1:42");
  EXPECT_EQ(IdentifyPage(region, 0x8000).offset, 0x4000U);
  region.build_id = "abcd";
  EXPECT_EQ(IdentifyPage(region, 0x9000).object, "build-id:abcd");
  EXPECT_TRUE(IdentifyPage(region, 0xa000).object.empty());
}

TEST(IdentifyPage, OtherPagesHaveNone) {
  SweepRegion region;
  region.range = {0x7000, 0xa000};
  region.kind = static_cast<int>(RegionKind::kHeap);
  EXPECT_TRUE(IdentifyPage(region, 0x7000).object.empty());
}

}  // namespace
}  // namespace mempulse
