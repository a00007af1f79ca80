#include "exporter/ctl/comparison_output.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "nlohmann/json.hpp"
#include "tests/unit/exporter/analysis/made_runs.h"

namespace mempulse {
namespace {

using testing::HasSubstr;
using testing::Not;

Baseline Runs(size_t count) {
  std::vector<RunProfile> runs;
  for (uint64_t seed = 1; seed <= count; ++seed) runs.push_back(RunOf({{200, 8}, {5, 30}}, 0.05, seed));
  return BaselineOf(std::move(runs));
}

CompareAnswer AnswerFor(const Baseline& baseline, const RunProfile& live) {
  CompareAnswer answer;
  answer.subject = "shop-server (pid 42)";
  const BaselineEnvelope envelope = EnvelopeOf(baseline);
  const ReferenceScores reference = ReferenceScores::Of(baseline, envelope, {});
  answer.runs = reference.runs();
  answer.least_p_value = reference.least_p_value();
  Persistence persistence(2, 3);
  for (int sweep = 0; sweep < 3; ++sweep) {
    answer.last = CompareToBaseline(live, baseline, envelope);
    answer.scores = reference.Score(answer.last);
    persistence.Add(SuspicionsOf(answer.last, answer.scores, answer.runs),
                    absl::FromUnixSeconds(int64_t{15} * sweep));
    ++answer.sweeps;
  }
  answer.findings = persistence.Current();
  Judge(baseline, &answer);
  return answer;
}

TEST(CompareOutputTest, Clean) {
  const CompareAnswer answer = AnswerFor(Runs(6), RunOf({{200, 8}, {5, 30}}, 0.05, 77));
  EXPECT_EQ(answer.verdict, CompareVerdict::kClean);
  EXPECT_THAT(CompareTable(answer), HasSubstr("p is never below 0.143 with 6 runs"));
  EXPECT_THAT(CompareTable(answer), HasSubstr("\nclean\n"));
  EXPECT_EQ(nlohmann::json::parse(CompareJson(answer))["verdict"], "clean");
}

TEST(CompareOutputTest, Findings) {
  const CompareAnswer answer = AnswerFor(Runs(6), RunOf({{200, 8}, {5, 30}, {3000, 1}}, 0.05, 77));
  EXPECT_EQ(answer.verdict, CompareVerdict::kFindings);
  EXPECT_THAT(CompareTable(answer), HasSubstr("FINDING curve_spike: all memory, rank 1, 1 pages: "));
  EXPECT_THAT(CompareTable(answer), HasSubstr("before (in 3 sweeps since 1970-01-01 00:00:00 UTC)"));
  const nlohmann::json json = nlohmann::json::parse(CompareJson(answer));
  EXPECT_EQ(json["verdict"], "findings");
  EXPECT_EQ(json["findings"][0]["signal"], "curve_spike");
  EXPECT_GT(json["findings"][0]["value"], 2500);
}

TEST(CompareOutputTest, CannotTell) {
  const RunProfile same = RunOf({{200, 8}, {5, 30}}, 0.05, 77);
  EXPECT_THAT(CompareTable(AnswerFor(Runs(3), same)),
              HasSubstr("cannot tell: the baseline has 3 runs; at least 5"));
  RunProfile other = same;
  other.conditions.tracker = "hashdiff";
  EXPECT_THAT(CompareTable(AnswerFor(Runs(6), other)), HasSubstr("cannot tell: the baseline was taken with"));
  EXPECT_THAT(CompareTable(AnswerFor(Runs(6), other)), Not(HasSubstr("SIGNAL")));
  RunProfile partial = same;
  partial.seen_share = 0.4;
  EXPECT_THAT(CompareTable(AnswerFor(Runs(6), partial)), HasSubstr("look at 40 % of the pages"));
}

TEST(CompareOutputTest, ASweepThatSawLessCanStillFind) {
  RunProfile partial = RunOf({{200, 8}, {5, 30}, {3000, 1}}, 0.05, 77);
  partial.seen_share = 0.4;
  EXPECT_EQ(AnswerFor(Runs(6), partial).verdict, CompareVerdict::kFindings);
}

TEST(BaselineOutputTest, ShowsRunsAndEscapesWhatFilesSay) {
  Baseline baseline = Runs(2);
  baseline.group = "sh\x1b[31mop";
  baseline.runs[0].objects = {{"build-id:aa", "/lib/od\xff.so"}};
  baseline.runs[0].identities = {{0, 4096, 7, 6, 8}};
  const std::string table = BaselineTable(baseline);
  EXPECT_THAT(table, HasSubstr("2 runs, 0 more"));
  EXPECT_THAT(table, HasSubstr("windows 20ms 5ms; ceiling population counted at 5ms"));
  EXPECT_THAT(table, Not(HasSubstr("\x1b")));
  const nlohmann::json json = nlohmann::json::parse(BaselineJson(baseline));
  EXPECT_EQ(json["runs"].size(), 2u);
  EXPECT_EQ(json["runs"][0]["file_pages"][0]["offset"], 4096);
}

}  // namespace
}  // namespace mempulse
