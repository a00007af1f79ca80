#include "tests/workloads/population.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace mempulse {
namespace {

using ::testing::HasSubstr;

TEST(PopulationTest, TakesTiersInTheirOwnOrder) {
  const auto tiers = ParseTiers("cool,hot");
  ASSERT_TRUE(tiers.ok());
  ASSERT_EQ(tiers->size(), 2u);
  EXPECT_EQ((*tiers)[0].name, "hot");
  EXPECT_EQ((*tiers)[0].hertz, kFlatOut);
  EXPECT_EQ((*tiers)[1].name, "cool");
  EXPECT_EQ((*tiers)[1].hertz, 5);
  EXPECT_EQ((*tiers)[1].pages, 8u);
}

TEST(PopulationTest, NamesUnknownTier) {
  const auto tiers = ParseTiers("warm,lukewarm");
  EXPECT_EQ(tiers.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(tiers.status().message()),
              HasSubstr("unknown tier \"lukewarm\"; known: hot, 20khz"));
}

TEST(PopulationTest, ReadsExtraPopulation) {
  const auto extra = ParseExtra("0.5x3");
  ASSERT_TRUE(extra.ok());
  EXPECT_EQ(extra->hertz, 0.5);
  EXPECT_EQ(extra->pages, 3u);
  for (const char* bad : {"", "8x", "x2", "0x2", "-1x2", "5x0", "5x2x3", "nanx1", "infx1"}) {
    EXPECT_FALSE(ParseExtra(bad).ok()) << bad;
  }
}

TEST(PopulationTest, KeepsUntouchedPagesBetweenPopulations) {
  std::vector<Population> populations = {{"a", 1, 4}, {"b", 1, 16}, {"c", 1, 1}};
  EXPECT_EQ(LayOut(&populations), 64u);
  EXPECT_EQ(populations[0].first_page, 0u);
  EXPECT_EQ(populations[1].first_page, 16u);
  EXPECT_EQ(populations[2].first_page, 48u);
}

}  // namespace
}  // namespace mempulse
