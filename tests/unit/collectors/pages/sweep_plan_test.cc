#include "collectors/pages/sweep_plan.h"

#include <gtest/gtest.h>

namespace mempulse {
namespace {

TrackerTraits WriteProtect() {
  TrackerTraits traits;
  traits.atomic = traits.resets_range = traits.sees_restores = true;
  traits.target_seconds_per_hit = 1.1e-6;
  traits.seconds_per_page_looked = 2.6e-9;
  traits.seconds_per_call = 0.5e-6;
  return traits;
}

WideMeans Round(double seconds) {
  WideMeans means;
  means.target_seconds = means.own_seconds = seconds;
  return means;
}

TEST(SweepPlanTest, ASmallProcessIsWalkedWhole) {
  const WidePlan plan = PlanWalk(7'300, WriteProtect(), Round(0.06));
  EXPECT_FALSE(plan.scout);
  EXPECT_EQ(plan.block_share, 1);
}

TEST(SweepPlanTest, AHugeProcessIsScoutedFirst) {
  const WidePlan plan = PlanWalk(3'600'000, WriteProtect(), Round(0.02));
  EXPECT_TRUE(plan.scout);
  EXPECT_LT(plan.block_share, 1) << "one look costs 9 ms of 20";
  EXPECT_EQ(PlanWalk(3'600'000, WriteProtect(), Round(0.2)).block_share, 1);
}

TEST(SweepPlanTest, WideShareFollowsHitsNotPages) {
  EXPECT_EQ(WidePageShare({7'300, 0.005, 5e-9}, WriteProtect(), Round(0.06)), 1);
  const double redis = WidePageShare({17'147, 0.147, 20e-9}, WriteProtect(), Round(0.06));
  EXPECT_LT(WidePageShare({7'300, 0.005, 1e-6}, WriteProtect(), Round(0.06)), 1) << "dear for us";
  EXPECT_GT(redis, 0.1);
  EXPECT_LT(redis, 0.4) << "2,525 pages a look are more than 1 % of a CPU pays for";
  EXPECT_LT(WidePageShare({17'147, 1, 20e-9}, WriteProtect(), Round(0.06)), redis);
}

TEST(SweepPlanTest, TheBurstLimitCapsTheHitsOfOneWindow) {
  WideMeans means = Round(100'000);
  const double share = WidePageShare({100'000, 1, 0}, WriteProtect(), means);
  EXPECT_NEAR(share * 100'000 * 1.1e-6 / means.window_seconds, means.burst_ratio, 1e-6);
}

TEST(SweepPlanTest, FineRungTakesAllOfASmallPoolAndASampleOfALargeOne) {
  FineMeans means;
  means.seconds = 0.015;
  means.window_seconds = 0.00025;
  EXPECT_EQ(FinePageShare(4, WriteProtect(), means), 1);
  const double share = FinePageShare(5'000, WriteProtect(), means);
  EXPECT_GT(share, 0.002);
  EXPECT_LT(share, 0.1);
}

TEST(SweepPlanTest, AHandfulIsTriedBeforeNothing) {
  FineMeans means;
  means.seconds = 100e-6;
  means.duration_seconds = 1;
  EXPECT_NEAR(FinePageShare(1'000, WriteProtect(), means), 8.0 / 1'000, 1e-9);
  means.seconds = 10e-6;
  EXPECT_EQ(FinePageShare(1'000, WriteProtect(), means), 0);
}

}  // namespace
}  // namespace mempulse
