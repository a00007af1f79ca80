// Controls that must be silent and detections that must speak, on runs made by hand.
#include "exporter/analysis/compare_to_baseline.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/exporter/analysis/made_runs.h"

namespace mempulse {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

const std::vector<std::pair<double, int>> kService = {{200, 8}, {25, 40}, {5, 300}};

Baseline FiveRuns() {
  std::vector<RunProfile> runs;
  for (uint64_t seed = 1; seed <= 5; ++seed) runs.push_back(RunOf(kService, 0.05, seed));
  return BaselineOf(std::move(runs));
}

Comparison Against(const Baseline& baseline, const RunProfile& live) {
  return CompareToBaseline(live, baseline, EnvelopeOf(baseline));
}

std::vector<std::pair<double, int>> With(std::vector<std::pair<double, int>> pages,
                                         std::pair<double, int> more) {
  pages.push_back(more);
  return pages;
}

TEST(CompareCurveTest, TheSameServiceIsNotOver) {
  const Comparison comparison = Against(FiveRuns(), RunOf(kService, 0.05, 77));
  EXPECT_EQ(comparison.incomparable, "");
  EXPECT_EQ(comparison.runs, 5u);
  EXPECT_EQ(comparison.whole.over_pages, 0u);
  EXPECT_FALSE(comparison.whole.shifted);
}

TEST(CompareCurveTest, OneIntruderIsOneFinding) {
  const Comparison comparison = Against(FiveRuns(), RunOf(With(kService, {800, 2}), 0.05, 77));
  EXPECT_EQ(comparison.whole.over_pages, 2u) << "the pages behind the intruders are where they were";
  EXPECT_EQ(comparison.whole.excess_rank, 1u);
  EXPECT_NEAR(comparison.whole.excess_ratio, 800.0 / 214, 0.6);
  EXPECT_FALSE(comparison.whole.shifted);
}

TEST(CompareCurveTest, AnIntruderInTheMiddleOfTheCurve) {
  const Comparison comparison = Against(FiveRuns(), RunOf(With(kService, {100, 1}), 0.05, 77));
  EXPECT_EQ(comparison.whole.over_pages, 1u);
  EXPECT_EQ(comparison.whole.excess_rank, 9u);
  EXPECT_NEAR(comparison.whole.excess_hertz, 100, 6);
  EXPECT_NEAR(comparison.whole.excess_baseline_hertz, 26, 2);
}

TEST(CompareCurveTest, BusierIsAShiftAndNoSpike) {
  const Comparison comparison = Against(FiveRuns(), RunOf({{300, 8}, {37.5, 40}, {7.5, 300}}, 0.05, 77));
  EXPECT_TRUE(comparison.whole.shifted);
  EXPECT_NEAR(comparison.whole.shift_factor, 1.5, 0.1);
  EXPECT_EQ(comparison.whole.over_pages, 0u);
}

TEST(CompareCurveTest, AnIntruderInABusierServiceIsStillASpike) {
  const Comparison comparison =
      Against(FiveRuns(), RunOf({{300, 8}, {37.5, 40}, {7.5, 300}, {4000, 1}}, 0.05, 77));
  EXPECT_TRUE(comparison.whole.shifted);
  EXPECT_EQ(comparison.whole.over_pages, 1u);
}

TEST(CompareCurveTest, ASlowerMachineIsNotOver) {
  const Comparison comparison = Against(FiveRuns(), RunOf({{100, 8}, {12, 40}, {2.5, 300}}, 0.05, 77));
  EXPECT_EQ(comparison.whole.over_pages, 0u);
  EXPECT_FALSE(comparison.whole.shifted);
}

TEST(CompareCurveTest, InsideBothIntervalsIsNothing) {
  Baseline baseline = FiveRuns();
  RunProfile live = RunOf(kService);
  std::vector<RateClaim> claims = {{900, 100, 2000, 1}};
  live.whole = RankCurve::FromClaims(claims);
  EXPECT_EQ(Against(baseline, live).whole.over_pages, 0u) << "its low end is below the fastest page";
}

// The mistake that the project grew from: each page against the 95th percentile of all pages of the baseline.
TEST(CompareCurveTest, ThePooledPercentileFlagsDozensWhereTheCurveFlagsNone) {
  const Baseline baseline = FiveRuns();
  const RunProfile live = RunOf(kService, 0.05, 77);
  std::vector<float> pooled;
  for (const RunProfile& run : baseline.runs) {
    for (uint64_t rank = 1; rank <= run.whole.pages(); ++rank) pooled.push_back(run.whole.At(rank).hertz);
  }
  std::sort(pooled.begin(), pooled.end());
  const float percentile = pooled[pooled.size() * 95 / 100];
  int flagged = 0;
  for (uint64_t rank = 1; rank <= live.whole.pages(); ++rank)
    flagged += live.whole.At(rank).hertz > percentile ? 1 : 0;
  EXPECT_GE(flagged, 12);
  EXPECT_EQ(Against(baseline, live).whole.over_pages, 0u);
}

RunProfile WithFilePages(RunProfile run, const std::vector<std::pair<uint64_t, float>>& offsets,
                         const char* object = "build-id:aa") {
  run.objects = {{object, "/usr/lib/libshop.so"}};
  for (const auto& [offset, hertz] : offsets) {
    run.identities.push_back({0, offset, hertz, hertz * 0.9F, hertz * 1.1F});
  }
  return run;
}

TEST(CompareIdentitiesTest, KnownNovelAndFaster) {
  const Baseline baseline = BaselineOf({WithFilePages(RunOf(kService), {{0x1000, 10}, {0x2000, 100}}),
                                        WithFilePages(RunOf(kService), {{0x1000, 12}})});
  EXPECT_THAT(Against(baseline, WithFilePages(RunOf(kService), {{0x1000, 11}, {0x2000, 90}})).novel,
              IsEmpty());
  const Comparison comparison =
      Against(baseline, WithFilePages(RunOf(kService), {{0x1000, 50}, {0x3000, 40}, {0x4000, 1}}));
  ASSERT_THAT(comparison.novel, SizeIs(1)) << "a page as slow as one write a second proves nothing";
  EXPECT_EQ(comparison.novel[0].offset, 0x3000u);
  EXPECT_FALSE(comparison.novel[0].new_object);
  ASSERT_THAT(comparison.faster, SizeIs(1));
  EXPECT_EQ(comparison.faster[0].offset, 0x1000u);
  EXPECT_NEAR(comparison.faster[0].ratio, 45 / 13.2, 0.01);
}

TEST(CompareIdentitiesTest, AnInjectedLibraryIsANewObject) {
  const Baseline baseline = BaselineOf({WithFilePages(RunOf(kService), {{0x1000, 10}})});
  const Comparison comparison =
      Against(baseline, WithFilePages(RunOf(kService), {{0x1000, 50}}, "build-id:bb"));
  ASSERT_THAT(comparison.novel, SizeIs(1));
  EXPECT_TRUE(comparison.novel[0].new_object);
}

TEST(CompareIdentitiesTest, ARunIsNotHeldAgainstItself) {
  const Baseline baseline = BaselineOf({WithFilePages(RunOf(kService), {{0x1000, 10}, {0x2000, 100}}),
                                        WithFilePages(RunOf(kService), {{0x1000, 12}})});
  const BaselineEnvelope envelope = EnvelopeOf(baseline);
  EXPECT_THAT(CompareToOthers(0, baseline, envelope).novel, SizeIs(1));
  EXPECT_THAT(CompareToOthers(1, baseline, envelope).novel, IsEmpty());
}

TEST(CompareCeilingTest, AboveInsideAndBelow) {
  Baseline baseline = BaselineOf({RunOf(kService), RunOf(kService)});
  baseline.runs[0].ceiling = {17, 17, 17};
  baseline.runs[1].ceiling = {18, 17, 19};
  RunProfile live = RunOf(kService);
  live.ceiling = {18, 18, 18};
  EXPECT_EQ(Against(baseline, live).ceiling.above, 0);
  EXPECT_EQ(Against(baseline, live).ceiling.baseline_least, 17);
  EXPECT_EQ(Against(baseline, live).ceiling.baseline_most, 18);
  live.ceiling = {21, 20, 22};
  EXPECT_EQ(Against(baseline, live).ceiling.above, 1) << "the low end counts";
  live.ceiling = {12, 11, 13};
  EXPECT_TRUE(Against(baseline, live).ceiling.below);
}

TEST(ComparableTest, OtherConditionsAreSaidNotGuessed) {
  const Baseline baseline = FiveRuns();
  RunProfile live = RunOf(With(kService, {800, 2}));
  live.conditions.tracker = "softdirty";
  EXPECT_THAT(Against(baseline, live).incomparable, HasSubstr("softdirty"));
  EXPECT_EQ(Against(baseline, live).whole.over_pages, 0u);
  live.conditions = baseline.conditions;
  live.conditions.windows.pop_back();
  EXPECT_THAT(Against(baseline, live).incomparable, HasSubstr("windows"));
  live.conditions = baseline.conditions;
  live.conditions.reference_window = absl::Milliseconds(1);
  EXPECT_THAT(Against(baseline, live).incomparable, HasSubstr("ceiling population"));
  live.conditions.reference_window = absl::ZeroDuration();
  EXPECT_EQ(Against(baseline, live).incomparable, "") << "no page came as far as the reference";
  live.conditions.page_size_bytes = 65536;
  EXPECT_THAT(Against(baseline, live).incomparable, HasSubstr("bytes"));
  EXPECT_THAT(Against(BaselineOf({}), RunProfile()).incomparable, HasSubstr("no runs"));
}

}  // namespace
}  // namespace mempulse
