#include "exporter/analysis/invert_windows.h"

#include <cmath>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/unit/exporter/analysis/sweep_simulator.h"

namespace mempulse {
namespace {

constexpr uint64_t kPage = FirstPage();

SimulatedSweep Usual(uint64_t seed = 1) {
  SimulatedSweep sweep;
  sweep.rungs = UsualRungs();
  sweep.seed = seed;
  return sweep;
}

TEST(EstimateRung, HandMadeCount) {
  // 100 windows of 10 ms, 20 hits: 20 Hz.
  const RungSample rung = PlainRung(absl::Milliseconds(10), 100, {{kPage, 20}});
  const RungEstimate estimate = EstimateRung(rung.looks, rung.pages[0], {});
  EXPECT_NEAR(estimate.frequency_hertz, 20, 1e-9);
  EXPECT_NEAR(estimate.low_hertz, 13.3, 0.2);  // Wilson: [0.133, 0.289]
  EXPECT_NEAR(estimate.high_hertz, 28.9, 0.2);
  EXPECT_FALSE(estimate.saturated);
}

TEST(EstimateRung, ZeroHits) {
  const RungSample rung = PlainRung(absl::Milliseconds(10), 100, {{kPage, 0}});
  const RungEstimate estimate = EstimateRung(rung.looks, rung.pages[0], {});
  EXPECT_EQ(estimate.frequency_hertz, 0);
  EXPECT_EQ(estimate.low_hertz, 0);
  EXPECT_NEAR(estimate.high_hertz, 3.62, 0.05);  // 1 - 0.025^(1/100) = 0.0362
}

TEST(EstimateRung, AllHits) {
  const RungSample rung = PlainRung(absl::Milliseconds(10), 10, {{kPage, 10}});
  const RungEstimate estimate = EstimateRung(rung.looks, rung.pages[0], {});
  EXPECT_TRUE(estimate.saturated);
  EXPECT_NEAR(estimate.low_hertz, 69.5, 0.5);  // 0.025^(1/10) = 0.6915 of a window, windows 9 and 11 ms
  EXPECT_TRUE(std::isinf(estimate.high_hertz));
}

TEST(EstimateRung, FewLooksAreNotSaturation) {
  const RungSample rung = PlainRung(absl::Milliseconds(10), 7, {{kPage, 7}});
  EXPECT_FALSE(EstimateRung(rung.looks, rung.pages[0], {}).saturated);
}

TEST(EstimateRung, NoLooksSayNothing) {
  const RungEstimate estimate = EstimateRung({}, PageHits{}, {});
  EXPECT_EQ(estimate.low_hertz, 0);
  EXPECT_TRUE(std::isinf(estimate.high_hertz));
}

TEST(EstimateRung, MeanOfTheWindowsWouldBeBiased) {
  // A writer of 100 Hz and windows of 5 and 15 ms: half of the short ones, all of the long ones.
  RungSample rung = PlainRung(absl::Milliseconds(10), 100, {{kPage, 75}});
  for (size_t i = 0; i < rung.looks.size(); ++i) rung.looks[i].window_seconds = i % 2 == 0 ? 0.005 : 0.015;
  EXPECT_NEAR(EstimateRung(rung.looks, rung.pages[0], {}).frequency_hertz, 100, 1e-9);
}

TEST(EstimateRung, SpacingSharpensASlowTimer) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    SimulatedSweep sweep = Usual(seed);
    const SweepSample sample = Simulate(sweep, {PeriodicWriter(5, 0.05 * static_cast<double>(seed))});
    const RungEstimate estimate = EstimateRung(sample.rungs[0].looks, sample.rungs[0].pages[0], {});
    EXPECT_NEAR(estimate.frequency_hertz, 5, 0.05) << seed;
    EXPECT_LE(estimate.low_hertz, 5);
    EXPECT_GE(estimate.high_hertz, 5);
    EXPECT_LT(estimate.high_hertz - estimate.low_hertz, 0.15);
  }
}

TEST(InvertWindows, ReadsTheTiers) {
  SimulatedSweep sweep = Usual();
  sweep.rungs.push_back({0.0001, 50, 0.05});
  sweep.rungs.push_back({0.00005, 50, 0.05});
  sweep.rungs.push_back({0.00002, 50, 0.05});
  for (uint64_t seed = 1; seed <= 10; ++seed) {
    sweep.seed = seed;
    const FrequencyMap map =
        InvertWindows(Simulate(sweep, {FlatOutWriter(), PeriodicWriter(19900), PeriodicWriter(800),
                                       PeriodicWriter(200), PeriodicWriter(5)}));
    ASSERT_EQ(map.pages.size(), 5U);
    EXPECT_EQ(map.pages[0].state, PageState::kAtCeiling);
    EXPECT_NEAR(map.pages[0].frequency_hertz, 50000, 15000);
    const std::vector<std::pair<double, double>> tiers = {{19900, 0.05}, {800, 0.02}, {200, 0.03}, {5, 0.01}};
    for (size_t i = 0; i < tiers.size(); ++i) {
      const PageFrequency& page = map.pages[i + 1];
      EXPECT_EQ(page.state, PageState::kMeasured) << PageStateName(page.state);
      EXPECT_NEAR(page.frequency_hertz / tiers[i].first, 1, tiers[i].second)
          << tiers[i].first << " seed " << seed;
      EXPECT_LE(page.low_hertz, tiers[i].first);
      EXPECT_GE(page.high_hertz, tiers[i].first);
      EXPECT_EQ(page.weight, 1);
      EXPECT_EQ(page.kind, RegionKind::kHeap);
    }
    EXPECT_NEAR(map.ceiling_hertz, 50000, 1000);
    EXPECT_EQ(map.reference_window, absl::Microseconds(250));
    EXPECT_FALSE(map.reference_is_substitute);
    EXPECT_TRUE(map.pages[0].saturated_at_reference);
    EXPECT_TRUE(map.pages[1].saturated_at_reference);
    EXPECT_FALSE(map.pages[2].saturated_at_reference);
  }
}

TEST(InvertWindows, PagesThatWereNeverHitAreNotListed) {
  const FrequencyMap map = InvertWindows(Simulate(Usual(), {[](double, double) { return false; }}));
  EXPECT_TRUE(map.pages.empty());
  EXPECT_EQ(map.tracked_pages, 1U);
}

TEST(InvertWindows, SlowTierComesFromTheGap) {
  SimulatedSweep sweep = Usual();
  sweep.seconds = 4;
  sweep.gap_seconds = 8;
  std::vector<Writer> writers;
  for (int i = 0; i < 8; ++i) writers.push_back(PeriodicWriter(0.2, i * 0.125));
  const FrequencyMap map = InvertWindows(Simulate(sweep, writers));
  ASSERT_EQ(map.pages.size(), 8U);
  for (const PageFrequency& page : map.pages) {
    EXPECT_EQ(page.state, PageState::kTooFew);
    EXPECT_LE(page.low_hertz, 0.2);
    EXPECT_GE(page.high_hertz, 0.2);
    EXPECT_GE(page.frequency_hertz, 0.05);
    EXPECT_LE(page.frequency_hertz, 0.8);
    ASSERT_EQ(page.rungs.size(), 2U);
    EXPECT_EQ(page.rungs[0].requested, absl::Seconds(8));
    EXPECT_EQ(page.rungs[0].hits, 1U);
  }
}

TEST(InvertWindows, GapAloneIsABracket) {
  SweepSample sample;
  sample.gap.window_seconds = 10;
  sample.gap.looked = {{kPage, kPage + 4 * kPageSize}};
  sample.gap.written = {{kPage + kPageSize, kPage + 2 * kPageSize}};
  const FrequencyMap map = InvertWindows(sample);
  ASSERT_EQ(map.pages.size(), 1U);
  EXPECT_EQ(map.pages[0].state, PageState::kTooFew);
  EXPECT_NEAR(map.pages[0].frequency_hertz, 0.1, 1e-9);
  EXPECT_NEAR(map.pages[0].low_hertz, 0.0025, 1e-5);
  EXPECT_TRUE(std::isinf(map.pages[0].high_hertz));
}

TEST(InvertWindows, SampledReferenceEstimatesThePopulation) {
  double population = 0;
  double without_fine = 0;
  for (uint64_t seed = 1; seed <= 30; ++seed) {
    SimulatedSweep sweep = Usual(seed);
    sweep.seconds = 1;
    sweep.rungs[3].page_share = 0.3;
    const auto count = [&] {
      double sum = 0;
      for (const PageFrequency& page :
           InvertWindows(Simulate(sweep, std::vector<Writer>(40, FlatOutWriter()))).pages) {
        if (page.saturated_at_reference) sum += page.reference_weight;
      }
      return sum;
    };
    without_fine += count() / 30;
    sweep.rungs.push_back({0.0001, 50, 0.05});
    sweep.rungs.back().page_share = 0.2;
    population += count() / 30;
  }
  EXPECT_NEAR(without_fine, 40, 8);
  EXPECT_NEAR(population, without_fine, 4);
}

TEST(InvertWindows, UndrawnPagesAreStoodForByTheDrawn) {
  SimulatedSweep sweep = Usual();
  sweep.seconds = 2;
  sweep.rungs[3].page_share = 0.5;
  const FrequencyMap map = InvertWindows(Simulate(sweep, std::vector<Writer>(50, FlatOutWriter())));
  ASSERT_EQ(map.pages.size(), 50U);
  int undrawn = 0;
  for (const PageFrequency& page : map.pages) {
    EXPECT_EQ(page.state, PageState::kAtCeiling);
    EXPECT_EQ(page.weight, page.undrawn_at_reference ? 0 : 2);
    undrawn += page.undrawn_at_reference;
  }
  EXPECT_NEAR(map.written_pages, 50, 20);
  EXPECT_GT(undrawn, 10);
}

TEST(InvertWindows, SubstituteReference) {
  SimulatedSweep sweep;
  sweep.rungs = {{0.02}, {0.005}};
  const FrequencyMap busy = InvertWindows(Simulate(sweep, {FlatOutWriter()}));
  EXPECT_TRUE(busy.reference_is_substitute);
  EXPECT_EQ(busy.reference_window, absl::Milliseconds(5));
  EXPECT_TRUE(busy.pages[0].saturated_at_reference);
  // Nothing asked for a finer rung, so nothing is at ceiling there.
  sweep.rungs = {{0.02}};
  const FrequencyMap quiet = InvertWindows(Simulate(sweep, {PeriodicWriter(5)}));
  EXPECT_FALSE(quiet.reference_is_substitute);
  EXPECT_EQ(quiet.reference_window, absl::Microseconds(250));
}

TEST(InvertWindows, OverloadedRungIsNoReference) {
  SweepSample sample = Simulate(Usual(), {FlatOutWriter()});
  sample.rungs[3].hits_per_second = 400000;
  const FrequencyMap map = InvertWindows(sample);
  EXPECT_TRUE(map.reference_is_substitute);
  EXPECT_EQ(map.reference_window, absl::Milliseconds(1));
  EXPECT_NEAR(map.ceiling_hertz, 1000, 10);
}

TEST(InvertWindows, EmptySample) {
  const FrequencyMap map = InvertWindows({});
  EXPECT_TRUE(map.pages.empty());
  EXPECT_EQ(map.ceiling_hertz, 0);
}

}  // namespace
}  // namespace mempulse
