#include "exporter/baseline/baseline_codec.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "exporter/analysis/compare_to_baseline.h"
#include "exporter/baseline/rate_steps.h"
#include "tests/unit/exporter/baseline/made_baseline.h"

namespace mempulse {
namespace {

using testing::HasSubstr;

TEST(RateStepsTest, EndsAreRoundedOutwardsAndStayOnceRead) {
  for (int power = 0; power < 80; ++power) {
    const float hertz = 0.001F * std::pow(1.37F, static_cast<float>(power));
    EXPECT_LE(HertzOfStep(StepBelow(hertz)), hertz * 1.0001F);
    EXPECT_GE(HertzOfStep(StepAbove(hertz)), hertz * 0.9999F);
    EXPECT_NEAR(HertzOfStep(StepNear(hertz)) / hertz, 1, 0.006);
    const float read = HertzOfStep(StepNear(hertz));
    EXPECT_EQ(HertzOfStep(StepBelow(read)), read);
    EXPECT_EQ(HertzOfStep(StepAbove(read)), read);
  }
  EXPECT_EQ(HertzOfStep(StepNear(0)), 0);
  EXPECT_TRUE(std::isinf(HertzOfStep(StepAbove(std::numeric_limits<float>::infinity()))));
}

TEST(BaselineCodecTest, WhatIsReadIsWhatWasWritten) {
  const Baseline baseline = MadeBaseline(8, 900, 5);
  const std::string bytes = EncodeBaseline(baseline);
  const absl::StatusOr<Baseline> read = DecodeBaseline(bytes);
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->group, "shop");
  EXPECT_EQ(read->build_id, baseline.build_id);
  EXPECT_EQ(read->conditions, baseline.conditions);
  EXPECT_EQ(read->thinned_runs, 3u);
  ASSERT_EQ(read->runs.size(), 5u);
  for (size_t run = 0; run < 5; ++run) {
    EXPECT_EQ(read->runs[run].taken_at, baseline.runs[run].taken_at);
    EXPECT_EQ(read->runs[run].objects, baseline.runs[run].objects);
    EXPECT_EQ(read->runs[run].identities.size(), baseline.runs[run].identities.size());
    EXPECT_EQ(read->runs[run].ceiling, baseline.runs[run].ceiling);
    for (const uint64_t rank : {1u, 17u, 18u, 300u, 900u}) {
      const RankCurve::Point was = baseline.runs[run].whole.At(rank);
      const RankCurve::Point is = read->runs[run].whole.At(rank);
      EXPECT_NEAR(is.hertz / was.hertz, 1, 0.006);
      EXPECT_LE(is.low, was.low * 1.0001F);
      EXPECT_GE(is.high, was.high * 0.9999F);
    }
  }
  EXPECT_EQ(EncodeBaseline(*read), bytes) << "a file that is read and saved again does not drift";
}

TEST(BaselineCodecTest, EmptyOnes) {
  const absl::StatusOr<Baseline> read = DecodeBaseline(EncodeBaseline(Baseline()));
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(*read, Baseline());
}

// The bar: 50 runs of a process of 7,300 pages, all of them written, in 256 KiB.
TEST(BaselineCodecTest, FiftyRunsStaySmall) {
  const std::string bytes = EncodeBaseline(MadeBaseline(50, 7300 / 7));
  const std::string whole = EncodeBaseline(MadeBaseline(50, 7300));
  printf("50 runs: %zu KiB with a seventh of 7,300 pages written, %zu KiB with all of them\n",
         bytes.size() >> 10, whole.size() >> 10);
  EXPECT_LT(bytes.size(), 256u << 10);
}

TEST(BaselineCodecTest, EveryFlippedBitAndEveryTruncationIsRefused) {
  const std::string bytes = EncodeBaseline(MadeBaseline(2, 40));
  for (size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    std::string flipped = bytes;
    flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << (bit % 8)));
    EXPECT_FALSE(DecodeBaseline(flipped).ok()) << "bit " << bit;
  }
  for (size_t size = 0; size < bytes.size(); ++size) EXPECT_FALSE(DecodeBaseline(bytes.substr(0, size)).ok());
}

// Behind a right checksum anything may stand.
TEST(BaselineCodecTest, HostilePayloadsAreRefusedOrBecomeABaselineThatCanBeUsed) {
  std::mt19937_64 random(5);
  const RunProfile live = MadeRun(77, 100);
  std::string payload(400, '\0');
  int accepted = 0;
  for (int round = 0; round < 20'000; ++round) {
    for (char& byte : payload) byte = static_cast<char>(random() % 7 == 0 ? random() : random() % 4);
    const absl::StatusOr<Baseline> read = DecodeBaselinePayload(payload);
    if (!read.ok()) {
      EXPECT_FALSE(read.status().message().empty());
      continue;
    }
    ++accepted;
    CompareToBaseline(live, *read, EnvelopeOf(*read));
  }
  printf("%d of 20000 random payloads were baselines\n", accepted);
}

}  // namespace
}  // namespace mempulse
