#include "collectors/pages/sweep.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "tests/unit/collectors/pages/simulated_process.h"

namespace mempulse {
namespace {

constexpr uint64_t kBase = 0x7f0000000000;
constexpr double kFlatOut = std::numeric_limits<double>::infinity();

class SweepTest : public testing::Test {
 protected:
  SweepTarget Target() {
    Mapping everything;
    everything.start = kBase;
    everything.end = kBase + (1 << 30);
    everything.writable = true;
    return {[everything] { return std::vector<Mapping>{everything}; },
            [this] { return clock_.MonotonicNanos(); }};
  }
  SweepRequest Request(double target_seconds = 1) {
    SweepRequest request;
    request.target_seconds = target_seconds;
    request.own_seconds = 10;
    request.options.burst_limit = 0.5;
    return request;
  }
  static const RungSample* Rung(const SweepSample& sample, absl::Duration window) {
    for (const RungSample& rung : sample.rungs) {
      if (rung.requested == window) return &rung;
    }
    return nullptr;
  }
  static const PageHits* Page(const RungSample* rung, uint64_t address) {
    if (rung == nullptr) return nullptr;
    for (const PageHits& page : rung->pages) {
      if (page.address == address) return &page;
    }
    return nullptr;
  }

  SimulatedClock clock_;
  SimulatedTracker tracker_{&clock_};
};

TEST_F(SweepTest, AMomentWithoutTheProcessorDoesNotEndTheLadder) {
  tracker_.AddPages(kBase, 100, 0);
  tracker_.AddPages(kBase + 20 * kPageSize, 1, 800);
  // Two of the first ten looks at the widest window find nothing.
  const int64_t start = clock_.MonotonicNanos();
  for (int64_t at : {40'000'000, 120'000'000}) tracker_.Pause(start + at, start + at + 45'000'000);
  Sweep sweep(tracker_, clock_, Target());
  const auto result = sweep.Run(Request(), std::stop_token());
  ASSERT_TRUE(result.ok()) << result.status();
  const PageHits* page = Page(Rung(result->sample, absl::Milliseconds(1)), kBase + 20 * kPageSize);
  ASSERT_NE(page, nullptr) << "never looked at with a window that could tell";
  EXPECT_GT(page->look_count, 100u);
}

TEST_F(SweepTest, NarrowsToPagesThatStaySaturated) {
  tracker_.AddPages(kBase, 100, 0);
  tracker_.AddPages(kBase + 10 * kPageSize, 1, 5);
  tracker_.AddPages(kBase + 20 * kPageSize, 1, 200);
  tracker_.AddPages(kBase + 30 * kPageSize, 2, kFlatOut);
  Sweep sweep(tracker_, clock_, Target());
  const auto result = sweep.Run(Request(), std::stop_token());
  ASSERT_TRUE(result.ok()) << result.status();
  const SweepSample& sample = result->sample;
  EXPECT_EQ(sample.outcome, SweepOutcome::kComplete);
  EXPECT_EQ(sample.tracked_pages, 100u);
  const RungSample* wide = Rung(sample, absl::Milliseconds(20));
  ASSERT_NE(wide, nullptr);
  EXPECT_EQ(wide->pages.size(), 4u) << "cold pages are not listed";
  EXPECT_EQ(wide->page_share, 1);
  EXPECT_NEAR(Page(wide, kBase + 10 * kPageSize)->hits, 30, 2);
  EXPECT_EQ(Page(wide, kBase + 30 * kPageSize)->look_count, 10u);
  EXPECT_EQ(Page(Rung(sample, absl::Milliseconds(5)), kBase + 10 * kPageSize), nullptr);
  ASSERT_NE(Page(Rung(sample, absl::Milliseconds(1)), kBase + 20 * kPageSize), nullptr);
  const PageHits* hot = Page(Rung(sample, absl::Microseconds(20)), kBase + 30 * kPageSize);
  ASSERT_NE(hot, nullptr);
  EXPECT_EQ(hot->hits, hot->look_count);
}

TEST_F(SweepTest, NoWriteIsLostToTheLooksOfAnotherRung) {
  // A 5 Hz page among flat-out ones: fine rungs walk over it, and still every write is one hit of the wide
  // rung.
  tracker_.AddPages(kBase, 3, kFlatOut);
  tracker_.AddPages(kBase + 3 * kPageSize, 1, 5);
  tracker_.AddPages(kBase + 4 * kPageSize, 3, kFlatOut);
  SweepRequest request = Request();
  request.spread = absl::Seconds(8);
  Sweep sweep(tracker_, clock_, Target());
  const auto result = sweep.Run(request, std::stop_token());
  ASSERT_TRUE(result.ok());
  const PageHits* page = Page(Rung(result->sample, absl::Milliseconds(20)), kBase + 3 * kPageSize);
  ASSERT_NE(page, nullptr);
  EXPECT_NEAR(page->hits, 40, 1);
  EXPECT_NEAR((page->hits - 1) / page->hit_span_seconds, 5, 0.03);
}

TEST_F(SweepTest, TheGapBetweenSweepsFindsSlowWriters) {
  tracker_.AddPages(kBase, 50, 0);
  tracker_.AddPages(kBase + 7 * kPageSize, 1, 0.2);
  Sweep sweep(tracker_, clock_, Target());
  SweepRequest request = Request();
  request.spread = absl::Seconds(1);
  ASSERT_TRUE(sweep.Run(request, std::stop_token()).ok());
  clock_.Advance(9'000'000'000);
  const auto result = sweep.Run(request, std::stop_token());
  ASSERT_TRUE(result.ok());
  EXPECT_NEAR(result->sample.gap.window_seconds, 9, 0.01);
  EXPECT_THAT(result->sample.gap.written,
              testing::ElementsAre(PageRange{kBase + 7 * kPageSize, kBase + 8 * kPageSize}));
  const RungSample* wide = Rung(result->sample, absl::Milliseconds(20));
  ASSERT_NE(wide, nullptr);
  EXPECT_THAT(wide->ranges, testing::ElementsAre(PageRange{kBase + 7 * kPageSize, kBase + 8 * kPageSize}));
}

TEST_F(SweepTest, ManyHotPagesAreSampledWithinTheBudget) {
  tracker_.AddPages(kBase, 20'000, kFlatOut);
  SweepRequest request = Request(0.15);
  request.options.burst_limit = 0.05;
  Sweep sweep(tracker_, clock_, Target());
  for (int round = 0; round < 3; ++round) {
    request.seed = static_cast<uint64_t>(round) + 1;
    const auto result = sweep.Run(request, std::stop_token());
    ASSERT_TRUE(result.ok());
    EXPECT_LT(result->target_seconds, 0.15 * 1.1) << "round " << round;
    const RungSample* wide = Rung(result->sample, absl::Milliseconds(20));
    ASSERT_NE(wide, nullptr);
    EXPECT_LT(wide->page_share, 0.2);
    EXPECT_NEAR(static_cast<double>(wide->eligible_pages), 20'000, 4'000) << "drawn in blocks";
    const RungSample* reference = Rung(result->sample, absl::Microseconds(250));
    ASSERT_NE(reference, nullptr) << "the ceiling population must still be counted";
    EXPECT_GT(reference->looks.size(), 8u);
    clock_.Advance(9'000'000'000);
  }
}

TEST_F(SweepTest, FineRungsAreShedBeforeTheReferenceRung) {
  tracker_.AddPages(kBase, 2'000, kFlatOut);
  SweepRequest request = Request(0.01);
  request.options.burst_limit = 0.05;
  Sweep sweep(tracker_, clock_, Target());
  const auto result = sweep.Run(request, std::stop_token());
  ASSERT_TRUE(result.ok());
  EXPECT_LT(result->target_seconds, 0.013);
}

TEST_F(SweepTest, AChangedAddressSpaceIsCoveredAnewAndTheLookDiscarded) {
  tracker_.AddPages(kBase, 4, 100);
  Sweep sweep(tracker_, clock_, Target());
  tracker_.FailAfter(5, absl::FailedPreconditionError("registration lost"));
  const auto result = sweep.Run(Request(), std::stop_token());
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result->sample.outcome, SweepOutcome::kComplete);
  EXPECT_EQ(tracker_.covers(), 2);
  int discarded = 0;
  for (const RungSample& rung : result->sample.rungs) {
    for (const struct Look& look : rung.looks) discarded += look.discarded ? 1 : 0;
  }
  EXPECT_EQ(discarded, 1);
}

TEST_F(SweepTest, ATargetThatEndsGivesWhatWasSeen) {
  tracker_.AddPages(kBase, 4, 100);
  Sweep sweep(tracker_, clock_, Target());
  tracker_.FailAfter(8, absl::NotFoundError("gone"));
  const auto result = sweep.Run(Request(), std::stop_token());
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result->sample.outcome, SweepOutcome::kExited);
  EXPECT_FALSE(result->sample.rungs.empty());
}

TEST_F(SweepTest, WithoutAFinerRungTheWidestTakesAllTheTime) {
  tracker_.mutable_traits().resets_range = false;
  tracker_.AddPages(kBase, 4, 3);
  Sweep sweep(tracker_, clock_, Target());
  const auto result = sweep.Run(Request(), std::stop_token());
  ASSERT_TRUE(result.ok());
  ASSERT_EQ(result->sample.rungs.size(), 1u);
  EXPECT_GT(result->sample.rungs[0].looks.size() * 0.025, 0.9 * absl::ToDoubleSeconds(Request().spread));
}

TEST_F(SweepTest, AForeignTrackerHasAnOutcomeOfItsOwn) {
  tracker_.AddPages(kBase, 4, 100);
  Sweep sweep(tracker_, clock_, Target());
  tracker_.FailAfter(8, absl::AbortedError("foreign_tracker: somebody else resets"));
  const auto result = sweep.Run(Request(), std::stop_token());
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result->sample.outcome, SweepOutcome::kForeignTracker);
}

TEST_F(SweepTest, StopsWhenAsked) {
  tracker_.AddPages(kBase, 4, 100);
  Sweep sweep(tracker_, clock_, Target());
  std::stop_source stop;
  stop.request_stop();
  const auto result = sweep.Run(Request(), stop.get_token());
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result->sample.outcome, SweepOutcome::kStopped);
}

TEST_F(SweepTest, AWholeProcessResetNeverRunsTwoRungsAtOnce) {
  tracker_.mutable_traits().resets_range = false;
  tracker_.mutable_traits().atomic = false;
  tracker_.AddPages(kBase, 2, kFlatOut);
  tracker_.AddPages(kBase + 8 * kPageSize, 1, 5);
  Sweep sweep(tracker_, clock_, Target());
  const auto result = sweep.Run(Request(), std::stop_token());
  ASSERT_TRUE(result.ok());
  const RungSample* wide = Rung(result->sample, absl::Milliseconds(20));
  ASSERT_NE(wide, nullptr);
  EXPECT_NEAR(static_cast<double>(wide->looks.size()), 100, 10) << "a third of the six seconds";
  EXPECT_EQ(Rung(result->sample, absl::Microseconds(20)), nullptr);
  EXPECT_NE(Rung(result->sample, absl::Microseconds(250)), nullptr);
}

}  // namespace
}  // namespace mempulse
