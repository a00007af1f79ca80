#include "collectors/pages/cross_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <limits>

#include "collectors/pages/page_content.h"
#include "collectors/pages/range_set.h"
#include "collectors/pages/sweep.h"
#include "tests/unit/collectors/pages/simulated_process.h"

namespace mempulse {
namespace {

constexpr uint64_t kBase = 0x7f0000000000;

PageRange Pages(uint64_t first, uint64_t count) {
  return {kBase + first * kPageSize, kBase + (first + count) * kPageSize};
}

TEST(CompareContentTest, EveryPageGetsOneVerdict) {
  const std::vector<PageRange> ranges = {Pages(0, 4), Pages(10, 2)};
  const std::vector<PageRange> written = {Pages(0, 2)};
  const CrossCheck check = CompareContent(ranges, std::vector<uint64_t>{5, 6, 7, 8, kNoContent, 9},
                                          std::vector<uint64_t>{4, 6, 6, 8, 1, kNoContent}, written);
  EXPECT_EQ(check.confirmed, 1);
  EXPECT_EQ(check.unconfirmed, 1);
  EXPECT_EQ(check.missed, 1);
  EXPECT_EQ(check.unchanged, 1);
  EXPECT_EQ(check.pages(), 4) << "pages without content are not compared";
}

TEST(DrawCrossCheckTest, HalfFromWhatIsWritten) {
  const std::vector<PageRange> covered = {Pages(0, 100'000)};
  const std::vector<PageRange> written = {Pages(50, 1000)};
  const std::vector<PageRange> drawn = DrawCrossCheck(covered, written, 400, 7);
  EXPECT_NEAR(static_cast<double>(CountPages(drawn)), 400, 120);
  EXPECT_NEAR(static_cast<double>(CountPages(IntersectRanges(drawn, written))), 200, 80);
  EXPECT_EQ(drawn, DrawCrossCheck(covered, written, 400, 7));
  EXPECT_TRUE(DrawCrossCheck({}, written, 400, 7).empty());
}

TEST(OwnContentTest, LeavesOutWhatOthersCanChange) {
  std::vector<Mapping> mappings(3);
  for (size_t i = 0; i < mappings.size(); ++i) {
    mappings[i].start = kBase + i * kPageSize;
    mappings[i].end = mappings[i].start + kPageSize;
  }
  mappings[1].shared = true;
  mappings[2].inode = 5;
  EXPECT_EQ(OwnContent(mappings), std::vector<PageRange>{Pages(0, 1)});
}

TEST(PageContentTest, HashesPresentPagesAndPopulatesNone) {
  auto* const area = static_cast<volatile char*>(
      mmap(nullptr, 4 * kPageSize, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  madvise(const_cast<char*>(area), 4 * kPageSize, MADV_NOHUGEPAGE);
  area[0] = 1;
  area[kPageSize] = 1;
  area[2 * kPageSize] = 0;  // present, but as empty as a discarded page
  const PageRange range{reinterpret_cast<uint64_t>(area), reinterpret_cast<uint64_t>(area) + 4 * kPageSize};
  const Host host;
  const auto content = PageContent::Open(host, getpid());
  ASSERT_TRUE(content.ok()) << content.status();
  const auto before = (*content)->Hash({&range, 1});
  area[kPageSize + 100] = 1;
  const auto after = (*content)->Hash({&range, 1});
  ASSERT_TRUE(before.ok() && after.ok());
  EXPECT_EQ((*before)[0], (*before)[1]) << "the same content";
  EXPECT_EQ((*before)[0], (*after)[0]);
  EXPECT_NE((*before)[1], (*after)[1]);
  EXPECT_EQ((*before)[2], kNoContent);
  EXPECT_EQ((*after)[3], kNoContent);
  unsigned char resident[4] = {};
  ASSERT_EQ(mincore(const_cast<char*>(area), 4 * kPageSize, resident), 0);
  EXPECT_EQ(resident[3] & 1, 0) << "the read populated a page";
  munmap(const_cast<char*>(area), 4 * kPageSize);
}

// A process of flat-out and silent pages, whose content follows the writers or, where `lost` says so, changes
// without the tracker noticing.
class CrossCheckedSweepTest : public testing::Test {
 protected:
  CrossCheck Run(uint64_t pages, bool lost) {
    tracker_.AddPages(kBase, 20, std::numeric_limits<double>::infinity());
    tracker_.AddPages(kBase + 100 * kPageSize, 500, 0);
    SweepTarget target;
    target.mappings = [] {
      Mapping everything;
      everything.start = kBase;
      everything.end = kBase + (1 << 30);
      everything.writable = true;
      return std::vector<Mapping>{everything};
    };
    target.cpu_nanos = [this] { return clock_.MonotonicNanos(); };
    target.hash_pages = [this, lost](absl::Span<const PageRange> ranges) {
      ++hashes_;
      std::vector<uint64_t> words;
      for (const PageRange& range : ranges) {
        for (uint64_t address = range.start; address < range.end; address += kPageSize) {
          const bool changes = lost || address < kBase + 20 * kPageSize;
          words.push_back(changes ? hashes_ * 1000 + 1 : 1);
        }
      }
      return words;
    };
    Sweep sweep(tracker_, clock_, std::move(target));
    SweepRequest request;
    request.options.cross_check_pages = pages;
    const auto result = sweep.Run(request, std::stop_token());
    EXPECT_TRUE(result.ok() && result->end.ok());
    return result.ok() ? result->sample.cross_check : CrossCheck{};
  }

  uint64_t hashes_ = 0;
  SimulatedClock clock_;
  SimulatedTracker tracker_{&clock_};
};

TEST_F(CrossCheckedSweepTest, ATrackerThatLosesNothingMissesNothing) {
  const CrossCheck check = Run(64, false);
  EXPECT_GT(check.confirmed, 0);
  EXPECT_GT(check.unchanged, 0);
  EXPECT_EQ(check.missed, 0);
}

TEST_F(CrossCheckedSweepTest, ALostWriteIsSeen) {
  const CrossCheck check = Run(64, true);
  EXPECT_GT(check.missed, 0);
  EXPECT_EQ(check.unchanged, 0);
}

TEST_F(CrossCheckedSweepTest, NoPagesNoReading) {
  EXPECT_EQ(Run(0, true).pages(), 0);
  EXPECT_EQ(hashes_, 0);
}

}  // namespace
}  // namespace mempulse
