#include "exporter/round/group_totals.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace mempulse {
namespace {

TEST(GroupTotalsTest, EverythingCountableStartsAtZero) {
  const GroupTotals totals = FreshTotals();
  EXPECT_EQ(totals.sweeps.at("complete"), 0);
  EXPECT_EQ(totals.sweeps.at("failed"), 0);
  EXPECT_EQ(totals.errors.size(), kErrorReasons.size());
}

TEST(GroupTotalsTest, SumsOutcomes) {
  GroupTotals totals = FreshTotals();
  WatchOutcome outcome;
  outcome.outcome = SweepOutcome::kComplete;
  outcome.effect.induced_faults = 7;
  outcome.effect.own_cpu_seconds = 0.5;
  outcome.observed_hertz = {0.05, 5, 2e6};
  outcome.cross_check = {1, 2, 3, 4};
  AddOutcome(outcome, &totals);
  AddOutcome(outcome, &totals);
  EXPECT_EQ(totals.sweeps.at("complete"), 2);
  EXPECT_EQ(totals.effect.induced_faults, 14);
  EXPECT_DOUBLE_EQ(totals.effect.own_cpu_seconds, 1);
  EXPECT_THAT(totals.observations, testing::ElementsAre(2, 0, 2, 0, 0, 0, 0, 0, 2));
  EXPECT_DOUBLE_EQ(totals.observation_sum_hertz, 2 * (0.05 + 5 + 2e6));
  EXPECT_EQ(totals.cross_checks, 2);
  EXPECT_EQ(totals.cross_check.missed, 8);
}

TEST(GroupTotalsTest, ACheckThatWasNotDoneIsNotCounted) {
  GroupTotals totals = FreshTotals();
  AddOutcome(WatchOutcome{}, &totals);
  EXPECT_EQ(totals.cross_checks, 0);
}

TEST(GroupTotalsTest, AStopIsNoError) {
  GroupTotals totals = FreshTotals();
  WatchOutcome outcome;
  outcome.error_reason = "tracker";
  outcome.problem = absl::CancelledError("stopped");
  AddOutcome(outcome, &totals);
  EXPECT_EQ(totals.errors.at("tracker"), 0);
  outcome.problem = absl::InternalError("broken");
  AddOutcome(outcome, &totals);
  EXPECT_EQ(totals.errors.at("tracker"), 1);
}

}  // namespace
}  // namespace mempulse
