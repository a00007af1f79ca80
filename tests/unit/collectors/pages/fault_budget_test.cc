#include "collectors/pages/fault_budget.h"

#include <gtest/gtest.h>

namespace mempulse {
namespace {

constexpr int64_t kMilli = 1'000'000;

TEST(FaultBudgetTest, ABurstIsLimitedToItsShareOfATenthOfASecond) {
  FaultBudget budget(1.0, 0.05, 0);
  EXPECT_TRUE(budget.MayLook(0));
  budget.Spend(0.004, 0);
  EXPECT_TRUE(budget.MayLook(0));
  budget.Spend(0.002, 0);
  EXPECT_FALSE(budget.MayLook(0)) << "6 ms of 5 ms are spent";
  EXPECT_FALSE(budget.MayLook(19 * kMilli));
  EXPECT_TRUE(budget.MayLook(21 * kMilli)) << "1 ms at 5 % takes 20 ms";
}

TEST(FaultBudgetTest, APauseEndsWhenHalfTheBucketIsBack) {
  FaultBudget budget(1.0, 0.05, 0);
  budget.Spend(0.005, 0);
  EXPECT_NEAR(static_cast<double>(budget.RefilledAtNanos(0)), 50.0 * kMilli, kMilli);
  EXPECT_EQ(budget.RefilledAtNanos(80 * kMilli), 80 * kMilli);
}

TEST(FaultBudgetTest, IdleTimeDoesNotSaveUpMoreThanOneBucket) {
  FaultBudget budget(1.0, 0.05, 0);
  budget.Spend(0.0051, 10'000 * kMilli);
  EXPECT_FALSE(budget.MayLook(10'000 * kMilli));
}

TEST(FaultBudgetTest, TheTotalIsCountedApart) {
  FaultBudget budget(0.01, 1, 0);
  budget.Spend(0.004, 0);
  EXPECT_NEAR(budget.left(), 0.006, 1e-12);
  budget.Spend(0.010, 0);
  EXPECT_LT(budget.left(), 0);
  EXPECT_NEAR(budget.spent(), 0.014, 1e-12);
}

}  // namespace
}  // namespace mempulse
