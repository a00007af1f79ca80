#include "exporter/analysis/scores.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "exporter/analysis/persistence.h"
#include "tests/unit/exporter/analysis/made_runs.h"

namespace mempulse {
namespace {

using testing::IsEmpty;
using testing::SizeIs;

constexpr size_t kSpike = static_cast<size_t>(Signal::kCurveSpike);
constexpr size_t kShift = static_cast<size_t>(Signal::kCurveShift);
constexpr size_t kAll = static_cast<size_t>(Signal::kCombined);

Baseline Runs(size_t count) {
  std::vector<RunProfile> runs;
  for (uint64_t seed = 1; seed <= count; ++seed)
    runs.push_back(RunOf({{200, 8}, {25, 40}, {5, 300}}, 0.05, seed));
  return BaselineOf(std::move(runs));
}

std::array<SignalScore, kSignalCount> ScoresOf(const Baseline& baseline, const RunProfile& live) {
  const BaselineEnvelope envelope = EnvelopeOf(baseline);
  return ReferenceScores::Of(baseline, envelope, {}).Score(CompareToBaseline(live, baseline, envelope));
}

TEST(ScoresTest, APValueIsNeverSmallerThanTheRunsAllow) {
  const RunProfile live = RunOf({{200, 8}, {25, 40}, {5, 300}, {9000, 3}}, 0.05, 77);
  EXPECT_DOUBLE_EQ(ScoresOf(Runs(4), live)[kSpike].p_value, 1.0 / 5);
  EXPECT_DOUBLE_EQ(ScoresOf(Runs(19), live)[kSpike].p_value, 1.0 / 20);
  EXPECT_DOUBLE_EQ(ScoresOf(Runs(19), live)[kAll].p_value, 1.0 / 20);
}

TEST(ScoresTest, NothingOverIsNothingStrange) {
  const auto scores = ScoresOf(Runs(9), RunOf({{190, 8}, {24, 40}, {4.8, 300}}));
  EXPECT_DOUBLE_EQ(scores[kSpike].p_value, 1);
  EXPECT_DOUBLE_EQ(scores[kShift].p_value, 1);
  EXPECT_DOUBLE_EQ(scores[kAll].p_value, 1);
}

TEST(ScoresTest, PlacedAmongTheRuns) {
  std::vector<SignalValues> statistics(9, SignalValues{});
  for (size_t run = 0; run < 9; ++run) statistics[run][kSpike] = 0.1 * static_cast<double>(run);
  const ReferenceScores reference(statistics);
  Comparison comparison;
  comparison.whole.excess_ratio = std::exp(0.65);
  const auto scores = reference.Score(comparison);
  EXPECT_DOUBLE_EQ(scores[kSpike].p_value, 0.3) << "two runs of nine are as great";
  EXPECT_DOUBLE_EQ(scores[kSpike].greatest_normal, 0.8);
  EXPECT_DOUBLE_EQ(reference.least_p_value(), 0.1);
}

TEST(ScoresTest, IncomparableHasNoScore) {
  RunProfile live = RunOf({{9000, 3}});
  live.conditions.tracker = "hashdiff";
  EXPECT_DOUBLE_EQ(ScoresOf(Runs(4), live)[kSpike].p_value, 1);
}

TEST(SuspicionsTest, AnIntruderIsNamedAndTheServiceItselfIsNot) {
  const Baseline baseline = Runs(10);
  const BaselineEnvelope envelope = EnvelopeOf(baseline);
  const ReferenceScores reference = ReferenceScores::Of(baseline, envelope, {});
  const auto suspicions = [&](const RunProfile& live) {
    const Comparison comparison = CompareToBaseline(live, baseline, envelope);
    return SuspicionsOf(comparison, reference.Score(comparison), reference.runs());
  };
  int false_ones = 0;
  for (uint64_t seed = 100; seed < 200; ++seed) {
    false_ones += static_cast<int>(suspicions(RunOf({{200, 8}, {25, 40}, {5, 300}}, 0.05, seed)).size());
    EXPECT_FALSE(suspicions(RunOf({{200, 8}, {25, 40}, {5, 300}, {800, 2}}, 0.05, seed)).empty());
  }
  EXPECT_EQ(false_ones, 0);
  const std::vector<Suspicion> found = suspicions(RunOf({{200, 8}, {25, 40}, {5, 300}, {800, 2}}, 0.05, 77));
  ASSERT_THAT(found, SizeIs(2)) << "the whole curve and that of its kind";
  EXPECT_EQ(found[0].key, "curve_spike/all");
  EXPECT_EQ(found[1].key, "curve_spike/anon");
  EXPECT_NEAR(found[0].hertz, 800, 45);
  EXPECT_NEAR(found[0].normal, 214, 4);
  EXPECT_EQ(found[0].runs, 10u);
}

Suspicion Named(const char* key) {
  Suspicion suspicion;
  suspicion.key = key;
  return suspicion;
}

absl::Time At(int seconds) { return absl::FromUnixSeconds(1'000'000 + seconds); }

TEST(PersistenceTest, TwoOfThree) {
  Persistence persistence(2, 3);
  EXPECT_THAT(persistence.Add({Named("a")}, At(0)), IsEmpty());
  EXPECT_THAT(persistence.Current(), IsEmpty()) << "once is a suspicion";
  EXPECT_THAT(persistence.Add({}, At(15)), IsEmpty());
  const std::vector<Finding> confirmed = persistence.Add({Named("a"), Named("b")}, At(30));
  ASSERT_THAT(confirmed, SizeIs(1));
  EXPECT_EQ(confirmed[0].suspicion.key, "a");
  EXPECT_EQ(confirmed[0].since, At(0));
  EXPECT_EQ(confirmed[0].sweeps, 2u);
  EXPECT_THAT(persistence.Add({Named("a")}, At(45)), IsEmpty()) << "confirmed once";
  EXPECT_THAT(persistence.Current(), SizeIs(1));
}

TEST(PersistenceTest, WhatStopsIsForgotten) {
  Persistence persistence(2, 3);
  persistence.Add({Named("a")}, At(0));
  persistence.Add({Named("a")}, At(15));
  for (int sweep = 2; sweep < 4; ++sweep) persistence.Add({}, At(15 * sweep));
  EXPECT_THAT(persistence.Current(), SizeIs(1)) << "still within the window";
  persistence.Add({}, At(60));
  EXPECT_THAT(persistence.Current(), IsEmpty());
  EXPECT_THAT(persistence.Add({Named("a")}, At(75)), IsEmpty()) << "it starts again";
}

TEST(PersistenceTest, FarApartIsNoFinding) {
  Persistence persistence(2, 3);
  for (int sweep = 0; sweep < 30; ++sweep) {
    const std::vector<Suspicion> now =
        sweep % 3 == 0 ? std::vector<Suspicion>{Named("a")} : std::vector<Suspicion>{};
    EXPECT_THAT(persistence.Add(now, At(15 * sweep)), IsEmpty());
  }
}

}  // namespace
}  // namespace mempulse
