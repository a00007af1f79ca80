#include "exporter/analysis/baseline.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "exporter/analysis/compare_to_baseline.h"
#include "tests/unit/exporter/analysis/made_runs.h"

namespace mempulse {
namespace {

using testing::HasSubstr;
using testing::SizeIs;

RunProfile At(int64_t seconds, double hertz, uint64_t offset = 0) {
  RunProfile run = RunOf({{hertz, 3}});
  run.taken_at = absl::FromUnixSeconds(seconds);
  run.build_id = "aa";
  run.ceiling = {hertz, hertz, hertz};
  if (offset > 0) {
    run.objects = {{"build-id:bb", "/lib/libshop.so"}};
    run.identities = {
        {0, offset, static_cast<float>(hertz), static_cast<float>(hertz), static_cast<float>(hertz)}};
  }
  return run;
}

TEST(AddRunTest, OldRunsAreThinnedAndTheirEdgeIsKept) {
  Baseline baseline;
  ASSERT_TRUE(AddRun(At(1, 900, 0x1000), 3, &baseline).ok());
  for (int64_t second = 2; second <= 6; ++second) {
    ASSERT_TRUE(AddRun(At(second, 100, 0x1000 * static_cast<uint64_t>(second)), 3, &baseline).ok());
  }
  EXPECT_THAT(baseline.runs, SizeIs(3));
  EXPECT_EQ(baseline.thinned_runs, 3u);
  EXPECT_EQ(baseline.build_id, "aa");
  const BaselineEnvelope envelope = EnvelopeOf(baseline);
  EXPECT_NEAR(envelope.whole.HighestAt(1, 2), 918, 1) << "the fast run is gone but not forgotten";
  EXPECT_THAT(envelope.identities, SizeIs(6));
  const Comparison comparison = CompareToBaseline(At(7, 800, 0x1000), baseline, envelope);
  EXPECT_EQ(comparison.whole.over_pages, 0u);
  EXPECT_THAT(comparison.novel, SizeIs(0));
  EXPECT_EQ(comparison.ceiling.above, 0);
  EXPECT_EQ(comparison.ceiling.baseline_most, 900);
  EXPECT_EQ(comparison.runs, 3u);
}

TEST(AddRunTest, WhatCannotBeComparedIsRefused) {
  Baseline baseline;
  ASSERT_TRUE(AddRun(At(1, 100), 3, &baseline).ok());
  RunProfile run = At(2, 100);
  run.conditions.tracker = "hashdiff";
  EXPECT_THAT(std::string(AddRun(run, 3, &baseline).message()), HasSubstr("hashdiff"));
  run = At(2, 100);
  run.build_id = "cc";
  EXPECT_THAT(std::string(AddRun(run, 3, &baseline).message()), HasSubstr("build"));
  EXPECT_THAT(baseline.runs, SizeIs(1));
}

TEST(AddRunTest, TheReferenceWindowIsLearntWhenAPageComesSoFar) {
  Baseline baseline;
  RunProfile quiet = At(1, 100);
  quiet.conditions.reference_window = absl::ZeroDuration();
  ASSERT_TRUE(AddRun(quiet, 3, &baseline).ok());
  ASSERT_TRUE(AddRun(At(2, 100), 3, &baseline).ok());
  EXPECT_EQ(baseline.conditions.reference_window, absl::Milliseconds(5));
}

TEST(MergeBaselinesTest, InstancesOfOneBuildBecomeOne) {
  Baseline a;
  Baseline b;
  for (int64_t second = 1; second <= 4; ++second) {
    ASSERT_TRUE(AddRun(At(2 * second, 100), 3, &a).ok());
    ASSERT_TRUE(AddRun(At(2 * second + 1, 200, 0x5000), 3, &b).ok());
  }
  const absl::StatusOr<Baseline> merged = MergeBaselines(a, b, 5);
  ASSERT_TRUE(merged.ok()) << merged.status();
  EXPECT_THAT(merged->runs, SizeIs(5));
  EXPECT_EQ(merged->thinned_runs, 3u) << "eight runs in all";
  EXPECT_TRUE(
      std::is_sorted(merged->runs.begin(), merged->runs.end(),
                     [](const RunProfile& x, const RunProfile& y) { return x.taken_at < y.taken_at; }));
  EXPECT_NEAR(EnvelopeOf(*merged).whole.HighestAt(1, 2), 204, 1);
}

TEST(MergeBaselinesTest, OthersAreRefused) {
  Baseline a = BaselineOf({At(1, 100)});
  Baseline b = a;
  b.group = "cache";
  EXPECT_THAT(std::string(MergeBaselines(a, b, 5).status().message()), HasSubstr("cache"));
  b = a;
  b.build_id = "dd";
  EXPECT_THAT(std::string(MergeBaselines(a, b, 5).status().message()), HasSubstr("dd"));
  b = a;
  b.conditions.windows.clear();
  EXPECT_THAT(std::string(MergeBaselines(a, b, 5).status().message()), HasSubstr("windows"));
}

}  // namespace
}  // namespace mempulse
