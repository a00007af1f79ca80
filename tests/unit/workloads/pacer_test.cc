#include "tests/workloads/pacer.h"

#include <gtest/gtest.h>

namespace mempulse {
namespace {

int WritesAt(Pacer* pacer, int64_t now_nanos) {
  int writes = 0;
  while (pacer->Due(now_nanos)) ++writes;
  return writes;
}

TEST(PacerTest, IsDueOncePerPeriod) {
  Pacer pacer(1000, 0, 0);
  EXPECT_EQ(WritesAt(&pacer, 0), 1);
  EXPECT_EQ(WritesAt(&pacer, 999'999), 0);
  EXPECT_EQ(WritesAt(&pacer, 1'000'000), 1);
  EXPECT_EQ(pacer.due_nanos(), 2'000'000);
}

TEST(PacerTest, StartsOnePhaseLater) {
  Pacer pacer(1000, 5'000'000, 0.25);
  EXPECT_EQ(WritesAt(&pacer, 5'249'999), 0);
  EXPECT_EQ(WritesAt(&pacer, 5'250'000), 1);
}

TEST(PacerTest, CatchesUpWhenTwoPeriodsLate) {
  Pacer pacer(1000, 0, 0);
  EXPECT_EQ(WritesAt(&pacer, 2'500'000), 3);
  EXPECT_EQ(pacer.missed(), 0);
}

TEST(PacerTest, GivesUpOlderPeriodsAndCountsThem) {
  Pacer pacer(1000, 0, 0);
  EXPECT_EQ(WritesAt(&pacer, 10'500'000), 1);
  EXPECT_EQ(pacer.missed(), 10);
  EXPECT_EQ(pacer.due_nanos(), 11'000'000);
}

TEST(PacerTest, DoesNotDriftWhenPeriodIsNoWholeNumberOfNanoseconds) {
  Pacer pacer(3, 0, 0);
  int writes = 0;
  for (int64_t now = 0; now < 1'000'000'000'000; now += 100'000'000) writes += WritesAt(&pacer, now);
  EXPECT_EQ(writes, 3000);
  EXPECT_EQ(pacer.missed(), 0);
}

}  // namespace
}  // namespace mempulse
