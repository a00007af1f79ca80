#include "exporter/analysis/window_table.h"

#include <cmath>
#include <random>

#include "gtest/gtest.h"

namespace mempulse {
namespace {

std::vector<Look> LooksOf(const std::vector<double>& windows) {
  std::vector<Look> looks;
  for (double window : windows) {
    Look look;
    look.window_seconds = window;
    looks.push_back(look);
  }
  return looks;
}

double PlainSum(const std::vector<double>& windows, double hertz) {
  double sum = 0;
  for (double window : windows) sum += std::min(1.0, hertz * window);
  return sum;
}

TEST(WindowTable, ExpectsWhatThePlainSumGives) {
  const std::vector<double> windows = {0.02, 0.015, 0.025, 0.4, 0.018};
  const WindowTable table(LooksOf(windows), 0, 5);
  for (double hertz : {0.0, 1.0, 3.0, 45.0, 55.0, 66.0, 1000.0}) {
    EXPECT_NEAR(table.Expected(hertz), PlainSum(windows, hertz), 1e-12) << hertz;
  }
}

TEST(WindowTable, InvertUndoesExpected) {
  std::mt19937_64 random(7);
  std::uniform_real_distribution<double> length(0.75e-3, 1.25e-3);
  std::vector<double> windows;
  for (int i = 0; i < 999; ++i) windows.push_back(i % 50 == 0 ? 0.03 : length(random));
  const WindowTable table(LooksOf(windows), 0, 999);
  for (double hertz : {0.01, 5.0, 33.0, 200.0, 790.0, 850.0, 1100.0, 1300.0}) {
    EXPECT_NEAR(table.Invert(PlainSum(windows, hertz)), hertz, hertz * 1e-9);
  }
  EXPECT_EQ(table.Invert(0), 0);
  EXPECT_NEAR(table.Invert(999), 1 / 0.75e-3, 5);
}

TEST(WindowTable, InvertAllHitUndoesTheProduct) {
  const std::vector<double> windows = {0.02, 0.015, 0.025, 0.4, 0.018};
  const WindowTable table(LooksOf(windows), 0, 5);
  for (double hertz : {1.0, 20.0, 41.0, 52.0, 60.0}) {
    double log_chance = 0;
    for (double window : windows) log_chance += std::log(std::min(1.0, hertz * window));
    EXPECT_NEAR(table.InvertAllHit(log_chance), hertz, hertz * 1e-9);
  }
}

TEST(WindowTable, LeavesOutDiscardedLooksAndCutsTheRange) {
  std::vector<Look> looks = LooksOf({0.01, 0.5, 0.01, 0.01});
  looks[1].discarded = true;
  const WindowTable table(looks, 0, 100);
  EXPECT_EQ(table.looks(), 3U);
  EXPECT_FALSE(table.unbroken());
  EXPECT_NEAR(table.total_seconds(), 0.03, 1e-12);
  EXPECT_EQ(WindowTable(looks, 9, 3).looks(), 0U);
  EXPECT_EQ(WindowTable(looks, 2, 1).looks(), 1U);
}

TEST(WindowTable, TellsPausesFromUsualWindows) {
  std::vector<Look> looks = LooksOf({1e-4, 1.1e-4, 0.9e-4, 0.05, 1e-4});
  looks[3].contiguous = false;
  const WindowTable table(looks, 0, 5);
  EXPECT_EQ(table.usual_looks(), 4U);
  EXPECT_NEAR(table.usual_mean_seconds(), 1e-4, 1e-9);
  EXPECT_FALSE(table.unbroken());
  EXPECT_NEAR(table.contiguous_share(), 0.8, 1e-12);
}

TEST(WindowTable, PicksBusyLooks) {
  std::vector<Look> looks = LooksOf({0.01, 0.02, 0.03});
  looks[0].target_cpu = 0.1F;
  looks[2].target_cpu = 0.4F;
  const WindowTable table(looks, 0, 3, WindowTable::Only::kBusy);
  EXPECT_EQ(table.looks(), 1U);
  EXPECT_NEAR(table.total_seconds(), 0.02, 1e-12);
}

TEST(WindowTable, SurvivesNoLooks) {
  const WindowTable table({}, 0, 0);
  EXPECT_EQ(table.looks(), 0U);
  EXPECT_EQ(table.Expected(100), 0);
}

}  // namespace
}  // namespace mempulse
