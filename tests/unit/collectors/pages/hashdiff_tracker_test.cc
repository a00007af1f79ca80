#include "collectors/pages/hashdiff_tracker.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <memory>
#include <vector>

#include "collectors/pages/page_hashes.h"
#include "collectors/pages/pagemap.h"

namespace mempulse {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// ---- the table ----

TEST(PageHashesTest, KeepsWhatStaysCovered) {
  PageHashes hashes;
  hashes.Assign(std::vector<PageRange>{{0x1000, 0x4000}, {0x8000, 0x9000}});
  ASSERT_EQ(hashes.From(0x1000).size(), 3u);
  hashes.From(0x1000)[0] = 11;
  hashes.From(0x3000)[0] = 13;
  hashes.From(0x8000)[0] = 18;
  hashes.Assign(std::vector<PageRange>{{0x2000, 0x6000}, {0x7000, 0x9000}});
  EXPECT_TRUE(hashes.From(0x1000).empty());
  EXPECT_EQ(hashes.From(0x2000)[0], PageHashes::kUnknown);
  EXPECT_EQ(hashes.From(0x3000)[0], 13u);
  EXPECT_EQ(hashes.From(0x4000)[0], PageHashes::kUnknown);
  EXPECT_EQ(hashes.From(0x8000)[0], 18u);
  EXPECT_TRUE(hashes.From(0x9000).empty());
}

TEST(PageHashesTest, ReservedValuesAreNoHashes) {
  EXPECT_GT(PageHashes::Kept(0), PageHashes::kAbsent);
  EXPECT_GT(PageHashes::Kept(1), PageHashes::kAbsent);
  EXPECT_EQ(PageHashes::Kept(77), 77u);
}

TEST(PageHashesTest, CostsLessThanSixteenBytesAPage) {
  PageHashes hashes;
  std::vector<PageRange> ranges;
  for (uint64_t i = 0; i < 100; ++i) ranges.push_back({i << 30, (i << 30) + 73 * kPageSize});
  hashes.Assign(ranges);
  EXPECT_EQ(hashes.pages(), 7300u);
  EXPECT_LT(hashes.memory_bytes(), 7300u * 16);
}

// ---- on memory of this process ----

class HashDiffTrackerTest : public ::testing::Test {
 protected:
  void SetUp() override {
    area_ = static_cast<char*>(
        mmap(nullptr, kPages * kPageSize, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    ASSERT_NE(area_, MAP_FAILED);
    madvise(area_, kPages * kPageSize, MADV_NOHUGEPAGE);
    for (int i = 0; i < kPopulated; ++i) Set(i, 1);
    absl::StatusOr<ProcessFacts> facts = ReadProcessFacts(host_, getpid());
    ASSERT_TRUE(facts.ok()) << facts.status();
    absl::StatusOr<Target> target = Target::Open(host_, *facts);
    ASSERT_TRUE(target.ok()) << target.status();
    absl::StatusOr<std::unique_ptr<PageTracker>> tracker = OpenHashDiffTracker(host_, *target);
    ASSERT_TRUE(tracker.ok()) << tracker.status();
    tracker_ = *std::move(tracker);
  }
  void TearDown() override { munmap(area_, kPages * kPageSize); }

  void Set(int page, char value) { const_cast<volatile char*>(area_)[page * kPageSize + 100] = value; }
  uint64_t Address(int page) const { return reinterpret_cast<uint64_t>(area_) + page * kPageSize; }
  PageRange Pages(int from, int count) const { return {Address(from), Address(from + count)}; }
  Mapping Whole() const {
    Mapping mapping;
    mapping.start = Address(0);
    mapping.end = Address(kPages);
    mapping.readable = mapping.writable = true;
    mapping.kind = RegionKind::kAnon;
    return mapping;
  }
  Coverage Cover(const Mapping& mapping) {
    absl::StatusOr<Coverage> coverage = tracker_->Cover({mapping}, {});
    EXPECT_TRUE(coverage.ok()) << coverage.status();
    return *std::move(coverage);
  }
  std::vector<PageRange> LookAndReset(const std::vector<PageRange>& ranges) {
    std::vector<PageRange> written;
    Instant reset;
    const absl::StatusOr<Instant> at = tracker_->LookAndReset(ranges, &written, &reset);
    EXPECT_TRUE(at.ok()) << at.status();
    EXPECT_EQ(at->begin_nanos, reset.begin_nanos);
    return written;
  }
  bool Present(int page) {
    uint64_t entry = 0;
    const absl::StatusOr<Pagemap> pagemap = Pagemap::Open(host_, getpid());
    EXPECT_TRUE(pagemap->Read(Address(page), absl::MakeSpan(&entry, 1)).ok());
    return (entry & kEntryPresent) != 0;
  }

  static constexpr int kPages = 200;
  static constexpr int kPopulated = 150;
  Host host_;
  char* area_ = nullptr;
  std::unique_ptr<PageTracker> tracker_;
};

TEST_F(HashDiffTrackerTest, SaysWhatItIs) {
  EXPECT_TRUE(tracker_->traits().atomic);
  EXPECT_TRUE(tracker_->traits().resets_range);
  EXPECT_FALSE(tracker_->traits().sees_restores);
  EXPECT_GT(tracker_->traits().seconds_per_page_looked, 1e-8);
  EXPECT_LT(tracker_->traits().seconds_per_page_looked, 1e-3);
}

TEST_F(HashDiffTrackerTest, FindsWrittenPagesAndPopulatesNone) {
  const Coverage coverage = Cover(Whole());
  EXPECT_THAT(coverage.ranges, ElementsAre(Pages(0, kPopulated)));
  EXPECT_THAT(LookAndReset(coverage.ranges), IsEmpty());  // the first look means nothing
  Set(3, 2);
  Set(4, 2);
  Set(149, 2);
  EXPECT_THAT(LookAndReset({Pages(0, kPages)}), ElementsAre(Pages(3, 2), Pages(149, 1)));
  EXPECT_THAT(LookAndReset({Pages(0, kPages)}), IsEmpty());
  EXPECT_FALSE(Present(kPopulated));
}

TEST_F(HashDiffTrackerTest, ALookAloneLeavesTheBaseline) {
  const Coverage coverage = Cover(Whole());
  ASSERT_TRUE(tracker_->Reset(coverage.ranges).ok());
  Set(7, 2);
  std::vector<PageRange> written;
  ASSERT_TRUE(tracker_->Look(coverage.ranges, &written).ok());
  ASSERT_TRUE(tracker_->Look(coverage.ranges, &written).ok());
  EXPECT_THAT(written, ElementsAre(Pages(7, 1), Pages(7, 1)));
}

TEST_F(HashDiffTrackerTest, ARestoredValueIsNotSeen) {
  const Coverage coverage = Cover(Whole());
  ASSERT_TRUE(tracker_->Reset(coverage.ranges).ok());
  Set(7, 2);
  Set(7, 1);
  EXPECT_THAT(LookAndReset(coverage.ranges), IsEmpty());
}

TEST_F(HashDiffTrackerTest, ScatteredPagesAreLookedAtAlone) {
  Cover(Whole());
  ASSERT_TRUE(tracker_->Reset({Pages(0, kPopulated)}).ok());
  for (int i = 0; i < kPopulated; ++i) Set(i, 2);
  EXPECT_THAT(LookAndReset({Pages(2, 1), Pages(3, 1), Pages(90, 2)}),
              ElementsAre(Pages(2, 1), Pages(3, 1), Pages(90, 2)));
}

TEST_F(HashDiffTrackerTest, APageThatVanishedAndCameBackWasWrittenOnce) {
  const Coverage coverage = Cover(Whole());
  ASSERT_TRUE(tracker_->Reset(coverage.ranges).ok());
  ASSERT_EQ(madvise(area_ + 9 * kPageSize, kPageSize, MADV_DONTNEED), 0);
  EXPECT_THAT(LookAndReset(coverage.ranges), IsEmpty());
  EXPECT_FALSE(Present(9));
  Set(9, 1);  // the old content again
  EXPECT_THAT(LookAndReset(coverage.ranges), ElementsAre(Pages(9, 1)));
  EXPECT_THAT(LookAndReset(coverage.ranges), IsEmpty());
}

TEST_F(HashDiffTrackerTest, UnmappedAndUncoveredRangesCountAsUnwritten) {
  const Coverage coverage = Cover(Whole());
  ASSERT_TRUE(tracker_->Reset(coverage.ranges).ok());
  ASSERT_EQ(munmap(area_ + 20 * kPageSize, 10 * kPageSize), 0);
  Set(19, 2);
  Set(31, 2);
  EXPECT_THAT(LookAndReset(coverage.ranges), ElementsAre(Pages(19, 1), Pages(31, 1)));
  Set(kPopulated + 1, 2);  // present now, but of no Cover
  EXPECT_THAT(LookAndReset({Pages(kPopulated, 3)}), IsEmpty());
}

TEST_F(HashDiffTrackerTest, UnreadableAndSharedMappingsAreRefused) {
  Mapping mapping = Whole();
  mapping.readable = false;
  Coverage coverage = Cover(mapping);
  ASSERT_EQ(coverage.refusals.size(), 1u);
  EXPECT_EQ(coverage.refusals[0].reason, "not_readable");
  mapping = Whole();
  mapping.shared = true;
  coverage = Cover(mapping);
  EXPECT_EQ(coverage.refusals[0].reason, "shared");
  EXPECT_THAT(coverage.ranges, IsEmpty());
}

TEST_F(HashDiffTrackerTest, TheFirstWriteToAZeroPageIsSeen) {
  char sink = 0;
  for (int i = kPopulated; i < kPopulated + 4; ++i) {
    sink = static_cast<char>(sink + const_cast<volatile char*>(area_)[i * kPageSize]);
  }
  EXPECT_EQ(sink, 0);
  const Coverage coverage = Cover(Whole());
  EXPECT_EQ(coverage.pages, static_cast<uint64_t>(kPopulated) + 4);
  ASSERT_TRUE(tracker_->Reset(coverage.ranges).ok());
  Set(kPopulated + 2, 5);
  EXPECT_THAT(LookAndReset(coverage.ranges), ElementsAre(Pages(kPopulated + 2, 1)));
}

}  // namespace
}  // namespace mempulse
