#include "collectors/pages/softdirty_tracker.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "tests/unit/collectors/pages/scripted_soft_dirty.h"

namespace mempulse {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr uint64_t kHeap = 0x10000000;
constexpr uint64_t kArea = 0x40000000;

uint64_t Page(uint64_t start, uint64_t index) { return start + index * kPageSize; }
PageRange Pages(uint64_t start, uint64_t from, uint64_t count) {
  return {Page(start, from), Page(start, from + count)};
}

class SoftDirtyTrackerTest : public ::testing::Test {
 protected:
  SoftDirtyTrackerTest() {
    auto kernel = std::make_unique<ScriptedSoftDirty>();
    process_ = kernel.get();
    tracker_ = MakeSoftDirtyTracker(std::move(kernel));
    process_->Map(kHeap, 8);
    for (int i = 0; i < 8; ++i) process_->Write(Page(kHeap, i));
  }

  Coverage Cover(const CoverOptions& options = {}) {
    absl::StatusOr<std::vector<Mapping>> mappings = process_->ReadMappings();
    absl::StatusOr<Coverage> coverage = tracker_->Cover(*mappings, options);
    EXPECT_TRUE(coverage.ok()) << coverage.status();
    return *std::move(coverage);
  }
  std::vector<PageRange> LookAndReset(const std::vector<PageRange>& ranges) {
    std::vector<PageRange> written;
    Instant reset;
    const absl::StatusOr<Instant> at = tracker_->LookAndReset(ranges, &written, &reset);
    EXPECT_TRUE(at.ok()) << at.status();
    return written;
  }
  void Reset() { ASSERT_TRUE(tracker_->Reset({}).ok()); }

  ScriptedSoftDirty* process_;
  std::unique_ptr<PageTracker> tracker_;
};

TEST_F(SoftDirtyTrackerTest, SaysWhatItIs) {
  EXPECT_EQ(tracker_->kind(), TrackerKind::kSoftDirty);
  EXPECT_FALSE(tracker_->traits().atomic);
  EXPECT_FALSE(tracker_->traits().resets_range);
  EXPECT_TRUE(tracker_->traits().sees_restores);
}

TEST_F(SoftDirtyTrackerTest, ReportsWhatWasWrittenSinceTheClear) {
  const Coverage coverage = Cover();
  EXPECT_THAT(coverage.ranges, ElementsAre(Pages(kHeap, 0, 8)));
  Reset();
  EXPECT_THAT(LookAndReset(coverage.ranges), IsEmpty());
  process_->Write(Page(kHeap, 1));
  process_->Write(Page(kHeap, 2));
  process_->Write(Page(kHeap, 5));
  EXPECT_THAT(LookAndReset(coverage.ranges), ElementsAre(Pages(kHeap, 1, 2), Pages(kHeap, 5, 1)));
  EXPECT_THAT(LookAndReset(coverage.ranges), IsEmpty());
}

TEST_F(SoftDirtyTrackerTest, LooksOnlyAtTheRangesAndDoesNotMergeAcrossThem) {
  Cover();
  Reset();
  for (int i = 0; i < 8; ++i) process_->Write(Page(kHeap, i));
  EXPECT_THAT(LookAndReset({Pages(kHeap, 0, 2), Pages(kHeap, 2, 1), Pages(kHeap, 6, 1)}),
              ElementsAre(Pages(kHeap, 0, 2), Pages(kHeap, 2, 1), Pages(kHeap, 6, 1)));
}

TEST_F(SoftDirtyTrackerTest, GivesTheInstantsOfLookAndClearApart) {
  const Coverage coverage = Cover();
  Reset();
  process_->set_clear_nanos(70'000);
  std::vector<PageRange> written;
  Instant reset;
  const absl::StatusOr<Instant> look = tracker_->LookAndReset(coverage.ranges, &written, &reset);
  ASSERT_TRUE(look.ok());
  EXPECT_LT(look->begin_nanos, look->end_nanos);
  EXPECT_GE(reset.begin_nanos, look->end_nanos);
  EXPECT_EQ(reset.end_nanos - reset.begin_nanos, 70'000);
}

TEST_F(SoftDirtyTrackerTest, AWriteBetweenLookAndClearIsLostAndNeverCountedTwice) {
  const Coverage coverage = Cover();
  Reset();
  process_->WriteBeforeNextClear(Page(kHeap, 3));
  EXPECT_THAT(LookAndReset(coverage.ranges), IsEmpty());
  EXPECT_THAT(LookAndReset(coverage.ranges), IsEmpty());
}

TEST_F(SoftDirtyTrackerTest, AShortWindowIsNotTrustedWhereTheClearIsSlow) {
  Cover();
  const int64_t quick = tracker_->traits().shortest_window_nanos;
  process_->set_clear_nanos(6'000'000);
  for (int i = 0; i < 16; ++i) Reset();
  EXPECT_GT(tracker_->traits().shortest_window_nanos, 20'000'000);
  process_->set_clear_nanos(1000);
  for (int i = 0; i < 200; ++i) Reset();
  EXPECT_NEAR(tracker_->traits().shortest_window_nanos, quick, 10);
}

TEST_F(SoftDirtyTrackerTest, AbsentPagesAreNotWritten) {
  const Coverage coverage = Cover();
  Reset();
  process_->Write(Page(kHeap, 4));
  process_->Discard(Page(kHeap, 4));
  EXPECT_THAT(LookAndReset(coverage.ranges), IsEmpty());
}

TEST_F(SoftDirtyTrackerTest, AMappingThatGrewIsDistrustedForItsWindowOnly) {
  process_->Map(kArea, 2);
  const Coverage coverage = Cover();
  Reset();
  EXPECT_THAT(tracker_->Distrusted(), IsEmpty());
  process_->Map(Page(kHeap, 8), 4);  // sbrk: the whole heap reads dirty now
  EXPECT_EQ(LookAndReset(coverage.ranges).size(), 1u);
  EXPECT_THAT(tracker_->Distrusted(), ElementsAre(Pages(kHeap, 0, 12)));
  // The change may have come after the clear: the window after it is in doubt as well, then no more.
  EXPECT_THAT(LookAndReset(coverage.ranges), IsEmpty());
  EXPECT_THAT(tracker_->Distrusted(), ElementsAre(Pages(kHeap, 0, 12)));
  EXPECT_THAT(LookAndReset(coverage.ranges), IsEmpty());
  EXPECT_THAT(tracker_->Distrusted(), IsEmpty());
}

TEST_F(SoftDirtyTrackerTest, AChangeThatCoverSawCountsUntilTheNextReset) {
  Cover();
  Reset();
  process_->Map(kArea, 2);
  process_->Write(Page(kArea, 0));
  Cover();
  EXPECT_THAT(tracker_->Distrusted(), ElementsAre(Pages(kArea, 0, 2)));
  process_->Map(Page(kArea, 2), 2);
  Cover();
  Reset();
  EXPECT_THAT(tracker_->Distrusted(), IsEmpty());
}

TEST_F(SoftDirtyTrackerTest, NothingIsTrustedWhenMappingsCannotBeRead) {
  Cover();
  process_->Exit();
  const std::vector<PageRange> distrusted = tracker_->Distrusted();
  ASSERT_EQ(distrusted.size(), 1u);
  EXPECT_EQ(distrusted[0].start, 0u);
  std::vector<PageRange> written;
  EXPECT_TRUE(absl::IsNotFound(tracker_->Look({Pages(kHeap, 0, 1)}, &written).status()));
  EXPECT_TRUE(absl::IsNotFound(tracker_->Reset({}).status()));
}

TEST_F(SoftDirtyTrackerTest, HugePagesAreLeftOutAndCounted) {
  process_->Map(kArea, 1024);
  process_->MakeHuge(kArea);
  process_->Write(Page(kArea, 600));
  const Coverage coverage = Cover();
  EXPECT_THAT(coverage.ranges, ElementsAre(Pages(kHeap, 0, 8), Pages(kArea, 600, 1)));
  EXPECT_EQ(coverage.huge_pages_skipped, 512u);
  Reset();
  process_->Write(Page(kArea, 7));
  EXPECT_THAT(LookAndReset(coverage.ranges), IsEmpty());
  CoverOptions options;
  options.include_huge = true;
  EXPECT_EQ(Cover(options).pages, 8u + 512u + 1u);
}

TEST_F(SoftDirtyTrackerTest, PagesThatBecameOneHugePageAreDistrusted) {
  process_->Map(kArea, 512);
  for (int i = 0; i < 512; ++i) process_->Write(Page(kArea, i));
  const Coverage coverage = Cover();
  Reset();
  EXPECT_THAT(tracker_->Distrusted(), IsEmpty());
  process_->MakeHuge(kArea);
  process_->Write(Page(kArea, 7));  // one write
  EXPECT_THAT(LookAndReset(coverage.ranges), ElementsAre(Pages(kArea, 0, 512)));
  EXPECT_THAT(tracker_->Distrusted(), ElementsAre(Pages(kArea, 0, 512)));
}

TEST_F(SoftDirtyTrackerTest, FiveHundredPagesReallyWrittenAreTrusted) {
  process_->Map(kArea, 512);
  for (int i = 0; i < 512; ++i) process_->Write(Page(kArea, i));
  const Coverage coverage = Cover();
  Reset();
  for (int i = 0; i < 512; ++i) process_->Write(Page(kArea, i));
  EXPECT_EQ(LookAndReset(coverage.ranges).size(), 1u);
  EXPECT_THAT(tracker_->Distrusted(), IsEmpty());
}

TEST_F(SoftDirtyTrackerTest, OneForeignClearSpoilsItsWindowOnly) {
  const Coverage coverage = Cover();
  Reset();
  process_->Write(Page(kHeap, 1));
  LookAndReset(coverage.ranges);  // now it is known as a page that is written
  EXPECT_FALSE(tracker_->LookSpoiled());
  process_->Write(Page(kHeap, 1));
  ASSERT_TRUE(tracker_->Glance().ok());
  process_->ClearFromOutside();
  EXPECT_THAT(LookAndReset(coverage.ranges), IsEmpty());
  EXPECT_TRUE(tracker_->LookSpoiled());
  process_->Write(Page(kHeap, 1));
  ASSERT_TRUE(tracker_->Glance().ok());
  EXPECT_EQ(LookAndReset(coverage.ranges).size(), 1u);
  EXPECT_FALSE(tracker_->LookSpoiled());
}

TEST_F(SoftDirtyTrackerTest, WhoeverClearsAgainAndAgainIsNamed) {
  const Coverage coverage = Cover();
  Reset();
  process_->Write(Page(kHeap, 1));
  LookAndReset(coverage.ranges);
  absl::Status end;
  for (int window = 0; window < 3; ++window) {
    EXPECT_TRUE(end.ok()) << window;
    process_->Write(Page(kHeap, 1));
    ASSERT_TRUE(tracker_->Glance().ok());
    process_->ClearFromOutside();
    std::vector<PageRange> written;
    Instant reset;
    end = tracker_->LookAndReset(coverage.ranges, &written, &reset).status();
  }
  EXPECT_TRUE(absl::IsAborted(end)) << end;
  EXPECT_EQ(end.message().substr(0, 16), "foreign_tracker:");
}

TEST_F(SoftDirtyTrackerTest, PagesThatLoseTheirBitByThemselvesAreNoForeignClear) {
  const Coverage coverage = Cover();
  Reset();
  for (int i = 0; i < 8; ++i) process_->Write(Page(kHeap, i));
  for (int i = 0; i < 8; ++i) LookAndReset({Pages(kHeap, static_cast<uint64_t>(i), 1)});
  for (int i = 0; i < 8; ++i) process_->Write(Page(kHeap, i));
  ASSERT_TRUE(tracker_->Glance().ok());
  for (int i = 0; i < 8; ++i) process_->Discard(Page(kHeap, i));  // madvise, and the page of zeros at a read
  process_->ReadFault(Page(kHeap, 0));
  LookAndReset(coverage.ranges);
  EXPECT_FALSE(tracker_->LookSpoiled());
}

TEST_F(SoftDirtyTrackerTest, AMergeThatIsUndoneInTheSameWindowSpoilsTheLook) {
  const Coverage coverage = Cover();
  Reset();
  EXPECT_THAT(LookAndReset(coverage.ranges), IsEmpty());  // marks are chosen
  process_->Write(Page(kHeap, 3));
  process_->MarkAsAWhole(kHeap);  // a neighbour came and went
  EXPECT_EQ(LookAndReset(coverage.ranges).size(), 1u);
  EXPECT_THAT(tracker_->Distrusted(), IsEmpty());
  EXPECT_TRUE(tracker_->LookSpoiled());
  process_->Write(Page(kHeap, 3));
  EXPECT_THAT(LookAndReset(coverage.ranges), ElementsAre(Pages(kHeap, 3, 1)));
  EXPECT_FALSE(tracker_->LookSpoiled());
}

TEST_F(SoftDirtyTrackerTest, AnAbsentPageThatReadsDirtyProvesTheMarkEveryTime) {
  process_->Map(kArea, 20);
  for (int i = 0; i < 10; ++i) process_->Write(Page(kArea, i));
  const Coverage coverage = Cover();
  Reset();
  for (int i = 0; i < 3; ++i) {
    process_->MarkAsAWhole(kArea);
    EXPECT_EQ(LookAndReset(coverage.ranges).size(), 1u);
    EXPECT_TRUE(tracker_->LookSpoiled()) << i;
    process_->Write(Page(kArea, 3));
    EXPECT_EQ(LookAndReset(coverage.ranges).size(), 1u);
    EXPECT_FALSE(tracker_->LookSpoiled()) << i;
  }
}

TEST_F(SoftDirtyTrackerTest, AProgramThatWritesAllOfItsMemoryLosesOneLookAtMost) {
  const Coverage coverage = Cover();
  Reset();
  LookAndReset(coverage.ranges);
  int spoiled = 0;
  for (int window = 0; window < 10; ++window) {
    for (int i = 0; i < 8; ++i) process_->Write(Page(kHeap, i));
    LookAndReset(coverage.ranges);
    spoiled += tracker_->LookSpoiled() ? 1 : 0;
    LookAndReset(coverage.ranges);
  }
  EXPECT_EQ(spoiled, 1);
}

TEST_F(SoftDirtyTrackerTest, CountsOneFaultForEachHitOfAWindow) {
  const Coverage coverage = Cover();
  std::vector<PageRange> written;
  ASSERT_TRUE(tracker_->Look(coverage.ranges, &written).ok());
  EXPECT_EQ(tracker_->effect().induced_faults, 0u);  // dirty from before our time
  Reset();
  process_->Write(Page(kHeap, 0));
  ASSERT_TRUE(tracker_->Look(coverage.ranges, &written).ok());
  process_->Write(Page(kHeap, 1));
  LookAndReset(coverage.ranges);
  EXPECT_EQ(tracker_->effect().induced_faults, 2u);
}

TEST_F(SoftDirtyTrackerTest, ScansLargeRangesWhereTheKernelCan) {
  process_->Map(kArea, 4096);
  for (int i = 0; i < 4096; ++i) process_->Write(Page(kArea, i));
  process_->set_scans(true);
  const Coverage coverage = Cover();
  Reset();
  process_->Write(Page(kHeap, 1));
  process_->Write(Page(kArea, 4000));
  EXPECT_THAT(LookAndReset(coverage.ranges), ElementsAre(Pages(kHeap, 1, 1), Pages(kArea, 4000, 1)));
  EXPECT_EQ(process_->scans_made, 1);
}

}  // namespace
}  // namespace mempulse
