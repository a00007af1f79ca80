#include "collectors/pages/pagemap_presence.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <vector>

namespace mempulse {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr char kSmaps[] =
    "55d000000000-55d000400000 rw-p 00000000 00:00 0                          [heap]\n"
    "Size:               4096 kB\n"
    "KernelPageSize:        4 kB\n"
    "Rss:                4096 kB\n"
    "AnonHugePages:      2048 kB\n"
    "ShmemPmdMapped:        0 kB\n"
    "VmFlags: rd wr mr mw me ac sd\n"
    "7f0000000000-7f0000400000 rw-p 00000000 00:0f 12 /anon_hugepage (deleted)\n"
    "KernelPageSize:     2048 kB\n"
    "AnonHugePages:         0 kB\n"
    "7f1000000000-7f1000001000 rw-p 00000000 00:00 0 \n"
    "KernelPageSize:        4 kB\n"
    "AnonHugePages:         0 kB\n";

TEST(ParseHugeUseTest, FindsMappingsOnHugePages) {
  const std::vector<HugeUse> uses = ParseHugeUse(kSmaps);
  ASSERT_EQ(uses.size(), 2u);
  EXPECT_EQ(uses[0].range, (PageRange{0x55d000000000, 0x55d000400000}));
  EXPECT_EQ(uses[0].transparent_bytes, 2u << 20);
  EXPECT_FALSE(uses[0].explicit_pages);
  EXPECT_EQ(uses[1].range, (PageRange{0x7f0000000000, 0x7f0000400000}));
  EXPECT_TRUE(uses[1].explicit_pages);
  EXPECT_THAT(ParseHugeUse(""), IsEmpty());
}

TEST(SplitByHugeUseTest, FullBlocksAreInDoubtTheRestIsNot) {
  const std::vector<PageRange> present = {{kHugePageSize - kPageSize, 2 * kHugePageSize + kPageSize},
                                          {3 * kHugePageSize, 3 * kHugePageSize + 5 * kPageSize}};
  EXPECT_EQ(SplitByHugeUse(present, std::nullopt).base, present);
  const HugeUse transparent{{0, 4 * kHugePageSize}, kHugePageSize, false};
  PresentPages split = SplitByHugeUse(present, transparent);
  EXPECT_THAT(split.huge, ElementsAre(PageRange{kHugePageSize, 2 * kHugePageSize}));
  EXPECT_THAT(split.base, ElementsAre(PageRange{kHugePageSize - kPageSize, kHugePageSize},
                                      PageRange{2 * kHugePageSize, 2 * kHugePageSize + kPageSize},
                                      PageRange{3 * kHugePageSize, 3 * kHugePageSize + 5 * kPageSize}));
  split = SplitByHugeUse(present, HugeUse{{0, 4 * kHugePageSize}, 0, true});
  EXPECT_EQ(split.huge, present);
  EXPECT_THAT(split.base, IsEmpty());
}

TEST(ForEachEntryTest, SharesReadsBetweenNeighboursAndSplitsLongRanges) {
  std::vector<PageRange> reads;
  const auto read = [&](uint64_t start, absl::Span<uint64_t> entries) {
    reads.push_back({start, start + entries.size() * kPageSize});
    for (size_t i = 0; i < entries.size(); ++i) entries[i] = start / kPageSize + i;
    return absl::OkStatus();
  };
  const std::vector<PageRange> ranges = {
      {0x1000, 0x3000}, {0x9000, 0xa000}, {0x40000000, 0x40000000 + 20000 * kPageSize}};
  std::vector<uint64_t> buffer;
  uint64_t visited = 0;
  ASSERT_TRUE(ForEachEntry(ranges, &buffer, read, [&](size_t range, uint64_t address, uint64_t entry) {
                EXPECT_EQ(entry, address / kPageSize);
                EXPECT_GE(address, ranges[range].start);
                EXPECT_LT(address, ranges[range].end);
                ++visited;
              }).ok());
  EXPECT_EQ(visited, 3u + 20000u);
  EXPECT_THAT(reads,
              ElementsAre(PageRange{0x1000, 0xa000}, PageRange{0x40000000, 0x40000000 + 16384 * kPageSize},
                          PageRange{0x40000000 + 16384 * kPageSize, 0x40000000 + 20000 * kPageSize}));
}

TEST(PagemapPresenceTest, FindsPresentPagesWithoutTouchingTheOthers) {
  constexpr uint64_t kPages = 64;
  char* area = static_cast<char*>(
      mmap(nullptr, kPages * kPageSize, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  ASSERT_NE(area, MAP_FAILED);
  madvise(area, kPages * kPageSize, MADV_NOHUGEPAGE);
  for (const int page : {3, 4, 40}) area[page * kPageSize] = 1;
  const Host host;
  const absl::StatusOr<Pagemap> pagemap = Pagemap::Open(host, getpid());
  ASSERT_TRUE(pagemap.ok()) << pagemap.status();
  PagemapPresence presence(host, getpid(), &*pagemap);
  Mapping mapping;
  mapping.start = reinterpret_cast<uint64_t>(area);
  mapping.end = mapping.start + kPages * kPageSize;
  const auto at = [&](uint64_t page) { return mapping.start + page * kPageSize; };
  for (int look = 0; look < 2; ++look) {
    const absl::StatusOr<PresentPages> present = presence.FindPresent(mapping);
    ASSERT_TRUE(present.ok()) << present.status();
    EXPECT_THAT(present->base, ElementsAre(PageRange{at(3), at(5)}, PageRange{at(40), at(41)}));
    EXPECT_THAT(present->huge, IsEmpty());
  }
  munmap(area, kPages * kPageSize);
  const absl::StatusOr<PresentPages> present = presence.FindPresent(mapping);
  ASSERT_TRUE(present.ok()) << present.status();
  EXPECT_THAT(present->base, IsEmpty());
}

TEST(PagemapTest, AnExitedProcessIsNotFound) {
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    for (;;) pause();
  }
  const Host host;
  const absl::StatusOr<Pagemap> pagemap = Pagemap::Open(host, child);
  ASSERT_TRUE(pagemap.ok()) << pagemap.status();
  kill(child, SIGKILL);
  ASSERT_EQ(waitpid(child, nullptr, 0), child);
  uint64_t entry = 0;
  EXPECT_TRUE(absl::IsNotFound(pagemap->Read(0x10000, absl::MakeSpan(&entry, 1))));
}

}  // namespace
}  // namespace mempulse
