#include "collectors/pages/range_set.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace mempulse {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

PageRange Pages(uint64_t first, uint64_t last) { return {first * kPageSize, last * kPageSize}; }

TEST(RangeSetTest, MergesWhatTouchesOrLiesWithinTheGap) {
  EXPECT_THAT(MergeRanges({Pages(8, 9), Pages(0, 2), Pages(2, 4)}), ElementsAre(Pages(0, 4), Pages(8, 9)));
  EXPECT_THAT(MergeRanges({Pages(0, 4), Pages(8, 9)}, 4), ElementsAre(Pages(0, 9)));
  EXPECT_THAT(MergeRanges({Pages(0, 9), Pages(2, 3)}), ElementsAre(Pages(0, 9)));
  EXPECT_THAT(MergeRanges({}), IsEmpty());
}

TEST(RangeSetTest, IntersectsAndSubtracts) {
  const std::vector<PageRange> a = {Pages(0, 10), Pages(20, 30)};
  const std::vector<PageRange> b = {Pages(2, 4), Pages(8, 22), Pages(29, 40)};
  EXPECT_THAT(IntersectRanges(a, b), ElementsAre(Pages(2, 4), Pages(8, 10), Pages(20, 22), Pages(29, 30)));
  EXPECT_THAT(SubtractRanges(a, b), ElementsAre(Pages(0, 2), Pages(4, 8), Pages(22, 29)));
  EXPECT_THAT(SubtractRanges(a, a), IsEmpty());
  EXPECT_THAT(SubtractRanges(a, {}), ElementsAre(a[0], a[1]));
}

TEST(RangeSetTest, FindsPages) {
  const std::vector<PageRange> ranges = {Pages(1, 3), Pages(5, 6)};
  EXPECT_FALSE(ContainsPage(ranges, 0));
  EXPECT_TRUE(ContainsPage(ranges, 2 * kPageSize));
  EXPECT_FALSE(ContainsPage(ranges, 3 * kPageSize));
  EXPECT_TRUE(ContainsPage(ranges, 5 * kPageSize + 17));
  EXPECT_FALSE(ContainsPage({}, 5));
}

TEST(RangeSetTest, SplitsByPagesAndByCount) {
  const std::vector<PageRange> ranges = {Pages(0, 10), Pages(20, 21), Pages(30, 31)};
  EXPECT_THAT(SplitRanges(ranges, 4, 100),
              ElementsAre(ElementsAre(Pages(0, 4)), ElementsAre(Pages(4, 8)),
                          ElementsAre(Pages(8, 10), Pages(20, 21), Pages(30, 31))));
  EXPECT_THAT(SplitRanges(ranges, 100, 2),
              ElementsAre(ElementsAre(Pages(0, 10), Pages(20, 21)), ElementsAre(Pages(30, 31))));
  EXPECT_THAT(SplitRanges({}, 4, 4), IsEmpty());
}

TEST(RangeSetTest, DrawsTheShareAskedForAndAnewWithEachSeed) {
  const std::vector<PageRange> ranges = {Pages(0, 20'000)};
  const std::vector<PageRange> drawn = DrawPages(ranges, 0.25, 7);
  EXPECT_NEAR(static_cast<double>(CountPages(drawn)), 5'000, 300);
  EXPECT_EQ(drawn, DrawPages(ranges, 0.25, 7));
  const double both = static_cast<double>(CountPages(IntersectRanges(drawn, DrawPages(ranges, 0.25, 8))));
  EXPECT_NEAR(both, 1'250, 200) << "two seeds draw independently";
  EXPECT_THAT(DrawPages(ranges, 0, 1), IsEmpty());
  EXPECT_EQ(CountPages(DrawPages(ranges, 1, 1)), 20'000u);
}

TEST(RangeSetTest, DrawsWholeBlocks) {
  const std::vector<PageRange> ranges = {Pages(3, 1'000)};
  for (const PageRange& block : DrawBlocks(ranges, 0.5, 16, 1)) {
    EXPECT_TRUE(block.start % (16 * kPageSize) == 0 || block.start == 3 * kPageSize);
    EXPECT_TRUE(block.end % (16 * kPageSize) == 0 || block.end == 1'000 * kPageSize);
  }
}

}  // namespace
}  // namespace mempulse
