#include "collectors/pages/coverage.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <vector>

namespace mempulse {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class ListedPresence final : public PresenceSource {
 public:
  absl::StatusOr<PresentPages> FindPresent(const Mapping& mapping) override {
    return by_start[mapping.start];
  }
  std::map<uint64_t, PresentPages> by_start;
};

Mapping Anon(uint64_t start, uint64_t end) {
  Mapping mapping;
  mapping.start = start;
  mapping.end = end;
  mapping.readable = mapping.writable = true;
  mapping.kind = RegionKind::kAnon;
  return mapping;
}

TEST(CoverPresentPagesTest, HugePagesBySwitch) {
  ListedPresence presence;
  presence.by_start[0x1000] = {{{0x1000, 0x3000}, {0x6000, 0x7000}}, {{0x3000, 0x6000}}, false};
  CoverOptions options;
  absl::StatusOr<Coverage> coverage = CoverPresentPages({Anon(0x1000, 0x9000)}, options, {}, &presence);
  EXPECT_THAT(coverage->ranges, ElementsAre(PageRange{0x1000, 0x3000}, PageRange{0x6000, 0x7000}));
  EXPECT_EQ(coverage->pages, 3u);
  EXPECT_EQ(coverage->huge_pages_skipped, 3u);
  EXPECT_EQ(coverage->refusals[0].reason, "huge_pages");
  options.include_huge = true;
  coverage = CoverPresentPages({Anon(0x1000, 0x9000)}, options, {}, &presence);
  EXPECT_THAT(coverage->ranges, ElementsAre(PageRange{0x1000, 0x7000}));
  EXPECT_EQ(coverage->huge_pages_skipped, 0u);
  EXPECT_THAT(coverage->refusals, IsEmpty());
}

TEST(CoverPresentPagesTest, StopsAtThePageLimit) {
  ListedPresence presence;
  presence.by_start[0x1000] = {{{0x1000, 0x3000}, {0x5000, 0x9000}}, {}, false};
  presence.by_start[0xa000] = {{{0xa000, 0xb000}}, {}, false};
  CoverOptions options;
  options.max_pages = 3;
  const absl::StatusOr<Coverage> coverage =
      CoverPresentPages({Anon(0x1000, 0x9000), Anon(0xa000, 0xb000)}, options, {}, &presence);
  EXPECT_THAT(coverage->ranges, ElementsAre(PageRange{0x1000, 0x3000}, PageRange{0x5000, 0x6000}));
  EXPECT_EQ(coverage->pages, 3u);
  ASSERT_EQ(coverage->refusals.size(), 2u);
  EXPECT_EQ(coverage->refusals[0].range, (PageRange{0x6000, 0x9000}));
  EXPECT_EQ(coverage->refusals[1].range, (PageRange{0xa000, 0xb000}));
  EXPECT_EQ(coverage->refusals[1].reason, "page_limit");
}

TEST(MappingRefusalTest, OneReasonEach) {
  Mapping mapping = Anon(0x1000, 0x2000);
  EXPECT_EQ(MappingRefusal(mapping, {}, {}), nullptr);
  mapping.shared = true;
  EXPECT_STREQ(MappingRefusal(mapping, {}, {}), "shared");
  CoverOptions with_shared;
  with_shared.include_shared = true;
  EXPECT_EQ(MappingRefusal(mapping, with_shared, {}), nullptr);
  mapping.readable = false;
  EXPECT_STREQ(MappingRefusal(mapping, with_shared, {.needs_readable = true}), "not_readable");
  mapping.kind = RegionKind::kDevice;
  EXPECT_STREQ(MappingRefusal(mapping, with_shared, {}), "special");
}

}  // namespace
}  // namespace mempulse
