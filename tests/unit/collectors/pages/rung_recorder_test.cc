#include "collectors/pages/rung_recorder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace mempulse {
namespace {

constexpr int64_t kMilli = 1'000'000;

PageRange Page(uint64_t number) { return {number * kPageSize, (number + 1) * kPageSize}; }

RungRecorder::LookFacts At(int64_t milli) {
  RungRecorder::LookFacts facts;
  facts.look = facts.reset = {milli * kMilli, milli * kMilli + 1000};
  return facts;
}

class RungRecorderTest : public testing::Test {
 protected:
  RungRecorder recorder_{absl::Milliseconds(10), {{0, 16 * kPageSize}}, /*record_hits=*/true};
};

TEST_F(RungRecorderTest, TheFirstLookOnlyOpensAWindow) {
  recorder_.Close(At(0), {Page(1)});
  EXPECT_EQ(recorder_.looks(), 0u);
  recorder_.Close(At(10), {Page(1)});
  const RungSample sample = std::move(recorder_).Finish();
  ASSERT_EQ(sample.looks.size(), 1u);
  EXPECT_DOUBLE_EQ(sample.looks[0].window_seconds, 0.01);
  ASSERT_EQ(sample.pages.size(), 1u);
  EXPECT_EQ(sample.pages[0].hits, 1u);
}

TEST_F(RungRecorderTest, KeepsTheSpacingOfHits) {
  recorder_.Open({0, 0});
  for (int look = 1; look <= 6; ++look) {
    const bool hit = look == 1 || look == 3 || look == 6;
    recorder_.Close(At(10 * look), hit ? std::vector<PageRange>{Page(2)} : std::vector<PageRange>{});
  }
  const RungSample sample = std::move(recorder_).Finish();
  ASSERT_EQ(sample.pages.size(), 1u);
  EXPECT_EQ(sample.pages[0].hits, 3u);
  EXPECT_EQ(sample.pages[0].look_count, 6u);
  EXPECT_NEAR(sample.pages[0].hit_span_seconds, 0.05, 1e-9);
  EXPECT_NEAR(sample.pages[0].hit_gap_square_sum, 0.02 * 0.02 + 0.03 * 0.03, 1e-9);
}

TEST_F(RungRecorderTest, ADroppedPageKeepsTheLooksItTookPartIn) {
  recorder_.Open({0, 0});
  recorder_.Close(At(10), {Page(1), Page(2)});
  recorder_.Close(At(20), {Page(1), Page(2)});
  recorder_.Drop(Page(1).start);
  recorder_.Drop(Page(9).start);
  recorder_.Close(At(30), {Page(1), Page(2)});
  const RungSample sample = std::move(recorder_).Finish();
  ASSERT_EQ(sample.pages.size(), 2u);
  EXPECT_EQ(sample.pages[0].hits, 2u);
  EXPECT_EQ(sample.pages[0].look_count, 2u);
  EXPECT_EQ(sample.pages[1].look_count, 3u);
}

TEST_F(RungRecorderTest, ADiscardedLookCountsForNothing) {
  recorder_.Open({0, 0});
  recorder_.Close(At(10), {Page(1)});
  RungRecorder::LookFacts facts = At(20);
  facts.discarded = true;
  recorder_.Close(facts, {Page(1)});
  const RungSample sample = std::move(recorder_).Finish();
  EXPECT_EQ(sample.pages[0].hits, 1u);
  EXPECT_TRUE(sample.looks[1].discarded);
}

TEST_F(RungRecorderTest, TwoStepTrackersHaveAWindowWithSlack) {
  recorder_.Open({1 * kMilli, 2 * kMilli});
  RungRecorder::LookFacts facts;
  facts.atomic = false;
  facts.look = {10 * kMilli, 11 * kMilli};
  facts.reset = {11 * kMilli, 13 * kMilli};
  recorder_.Close(facts, {});
  EXPECT_EQ(recorder_.opened_nanos(), 11 * kMilli);
  const RungSample sample = std::move(recorder_).Finish();
  EXPECT_NEAR(sample.looks[0].window_seconds, 0.009, 1e-9);
  EXPECT_NEAR(sample.looks[0].slack_seconds, 0.001, 1e-9);
}

TEST_F(RungRecorderTest, BusyLooksAreThoseOfBlocksInWhichTheTargetRan) {
  recorder_.Open({0, 0});
  recorder_.Close(At(10), {Page(1)});
  recorder_.Close(At(20), {Page(1)});
  recorder_.SettleCpu(0.9);
  recorder_.Close(At(30), {Page(1)});
  recorder_.SettleCpu(0.1);
  recorder_.Close(At(40), {Page(1)});
  recorder_.SettleCpu(0.6);
  const RungSample sample = std::move(recorder_).Finish();
  EXPECT_EQ(sample.pages[0].hits, 4u);
  EXPECT_EQ(sample.pages[0].busy_looks, 3u);
  EXPECT_EQ(sample.pages[0].busy_hits, 3u);
  EXPECT_FLOAT_EQ(sample.looks[2].target_cpu, 0.1f);
}

TEST_F(RungRecorderTest, NamedMembersAreListedWithoutHitsAndOthersPassedOver) {
  const std::vector<uint64_t> members = {Page(3).start, Page(1).start};
  recorder_.NameMembers(members);
  recorder_.Open({0, 0});
  recorder_.Close(At(10), {{Page(1).start, Page(2).end}});
  const RungSample sample = std::move(recorder_).Finish();
  ASSERT_EQ(sample.pages.size(), 2u);
  EXPECT_EQ(sample.pages[0].address, Page(1).start);
  EXPECT_EQ(sample.pages[0].hits, 1u);
  EXPECT_EQ(sample.pages[1].hits, 0u);
  EXPECT_EQ(sample.pages[1].look_count, 1u);
}

TEST_F(RungRecorderTest, TheRecordPointsIntoTheSortedPages) {
  recorder_.Open({0, 0});
  recorder_.Close(At(10), {Page(5)});
  recorder_.Close(At(20), {Page(2)});
  const RungSample sample = std::move(recorder_).Finish();
  ASSERT_EQ(sample.record.size(), 2u);
  EXPECT_EQ(sample.pages[sample.record[0].page].address, Page(5).start);
  EXPECT_EQ(sample.record[0].look, 0u);
  EXPECT_EQ(sample.pages[sample.record[1].page].address, Page(2).start);
}

}  // namespace
}  // namespace mempulse
