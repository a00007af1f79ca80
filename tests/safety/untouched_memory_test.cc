#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <numeric>

#include "collectors/pages/pagemap.h"
#include "collectors/pages/range_set.h"
#include "collectors/pages/writeprotect_tracker.h"
#include "collectors/targets/mapping_list.h"
#include "tests/safety/victim.h"

// Memory that the target has not touched stays untouched, and nothing is called written that was not.
namespace mempulse {
namespace {

constexpr uint64_t kMappedPages = 4096;

// Steps that the test asks for, one at a time.
struct Stepper {
  VictimReport* report;
  void Run(uint64_t step) {
    report->values[1] = step;
    ASSERT_TRUE(Eventually([&] { return report->values[2] == step; }));
  }
};

template <typename Steps>
void ServeSteps(VictimReport* report, Steps steps) {
  report->ready = true;
  for (;;) {
    const uint64_t step = report->values[1];
    if (step == report->values[2]) {
      usleep(100);
      continue;
    }
    steps(step);
    report->values[2] = step;
  }
}

uint64_t MapPages(uint64_t pages, int flags = 0) {
  void* memory =
      mmap(nullptr, pages * kPageSize, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0);
  return reinterpret_cast<uint64_t>(memory);
}

void Write(uint64_t memory, uint64_t first, uint64_t pages) {
  for (uint64_t i = first; i < first + pages; ++i) {
    auto* byte = reinterpret_cast<volatile char*>(memory + i * kPageSize);
    *byte = static_cast<char>(*byte + 1);
  }
}

void Read(uint64_t memory, uint64_t first, uint64_t pages) {
  for (uint64_t i = first; i < first + pages; ++i) {
    static_cast<void>(*reinterpret_cast<const volatile char*>(memory + i * kPageSize));
  }
}

int64_t PageTableKilobytes(pid_t pid) { return atoll(StatusField(pid, "VmPTE").c_str()); }

// A tracker of the victim, with one mapping under test.
struct Watch {
  Host host;
  absl::StatusOr<Target> target;
  absl::StatusOr<std::unique_ptr<PageTracker>> tracker;
  Coverage coverage;
  PageRange tested;

  Watch(pid_t pid, PageRange range)
      : target(TargetOf(host, pid)), tracker(OpenWriteProtectTracker(host, *target)), tested(range) {
    EXPECT_TRUE(tracker.ok()) << tracker.status();
    Cover({});
  }
  void Cover(const CoverOptions& options) {
    bool truncated = false;
    const absl::StatusOr<std::vector<Mapping>> mappings = ReadMappings(host, target->pid(), &truncated);
    absl::StatusOr<Coverage> covered = (*tracker)->Cover(*mappings, options);
    ASSERT_TRUE(covered.ok()) << covered.status();
    coverage = *std::move(covered);
  }
  // Pages of the mapping under test, counted from its start, that were written since the last look.
  std::vector<PageRange> LookAndReset() {
    std::vector<PageRange> written;
    Instant reset;
    const absl::StatusOr<Instant> looked = (*tracker)->LookAndReset(coverage.ranges, &written, &reset);
    EXPECT_TRUE(looked.ok()) << looked.status();
    std::vector<PageRange> pages;
    for (const PageRange& range : IntersectRanges(MergeRanges(written), {&tested, 1})) {
      pages.push_back({(range.start - tested.start) / kPageSize, (range.end - tested.start) / kPageSize});
    }
    return pages;
  }
  uint64_t TestedPages() const { return CountPages(IntersectRanges(coverage.ranges, {&tested, 1})); }
};

TEST(UntouchedMemory, ReservationOf64GibibytesGetsNoPageTables) {
  constexpr uint64_t kPages = uint64_t{16} << 20;
  Victim victim([](VictimReport* report) {
    const uint64_t memory = MapPages(kPages, MAP_NORESERVE);
    madvise(reinterpret_cast<void*>(memory), kPages * kPageSize, MADV_NOHUGEPAGE);
    for (uint64_t i = 0; i < kPages; i += kPages / 64) Write(memory, i, 3);
    report->values[0] = memory;
    ServeSteps(report, [&](uint64_t) { Write(memory, 0, 1); });
  });
  victim.WaitReady();
  const uint64_t memory = victim.report().values[0];
  const int64_t before = PageTableKilobytes(victim.pid());
  Watch watch(victim.pid(), {memory, memory + kPages * kPageSize});
  EXPECT_EQ(watch.TestedPages(), 64u * 3u);
  watch.LookAndReset();
  for (int i = 0; i < 5; ++i) {
    watch.LookAndReset();
    watch.Cover({});
  }
  EXPECT_EQ(PageTableKilobytes(victim.pid()), before);
  printf("64 GiB reserved, 192 pages present: VmPTE %ld kB before and after\n", static_cast<long>(before));
}

// The same questions to a small range (asked exactly) and to a large one (fast, then confirmed).
class UntouchedPages : public testing::TestWithParam<uint64_t> {};

TEST_P(UntouchedPages, DiscardedAndReadPagesAreNotWritten) {
  const uint64_t pages = GetParam();
  Victim victim([&](VictimReport* report) {
    const uint64_t memory = MapPages(pages);
    madvise(reinterpret_cast<void*>(memory), pages * kPageSize, MADV_NOHUGEPAGE);
    Write(memory, 0, 100);
    Write(memory, 110, pages - 110);  // a gap that is short enough to be merged
    report->values[0] = memory;
    ServeSteps(report, [&](uint64_t step) {
      if (step == 1) Write(memory, 5, 2);
      if (step == 2) madvise(reinterpret_cast<void*>(memory + 20 * kPageSize), 30 * kPageSize, MADV_DONTNEED);
      if (step == 3) Read(memory, 20, 10);
      if (step == 4) Read(memory, 100, 5);
      if (step == 5) Write(memory, 40, 1);
      if (step == 6) Write(memory, 25, 1);
      if (step == 7) Write(memory, 102, 1);
      if (step == 8) Write(memory, 107, 1);
    });
  });
  victim.WaitReady();
  const uint64_t memory = victim.report().values[0];
  Watch watch(victim.pid(), {memory, memory + pages * kPageSize});
  EXPECT_EQ(watch.TestedPages(), pages);
  Stepper stepper{&victim.report()};
  const auto after = [&](uint64_t step) {
    stepper.Run(step);
    return watch.LookAndReset();
  };
  using Pages = std::vector<PageRange>;
  EXPECT_EQ(watch.LookAndReset(), (Pages{{0, 100}, {110, pages}}));
  EXPECT_EQ(watch.LookAndReset(), Pages{});
  EXPECT_EQ(after(1), (Pages{{5, 7}}));
  EXPECT_EQ(after(2), Pages{}) << "MADV_DONTNEED";
  EXPECT_EQ(after(3), Pages{}) << "first read after MADV_DONTNEED";
  EXPECT_EQ(after(4), Pages{}) << "first read of a page never touched";
  EXPECT_EQ(after(5), (Pages{{40, 41}})) << "first write after MADV_DONTNEED";
  EXPECT_EQ(after(6), (Pages{{25, 26}})) << "write after that read";
  EXPECT_EQ(after(7), (Pages{{102, 103}})) << "write to a page that was only read";
  EXPECT_EQ(after(8), (Pages{{107, 108}})) << "write to a page never touched";
}

INSTANTIATE_TEST_SUITE_P(SmallAndLarge, UntouchedPages, testing::Values(512, kMappedPages));

TEST(UntouchedMemory, PrivateFilePagesThatAreOnlyReadAreNotWritten) {
  char name[] = "/tmp/mempulse-safety-XXXXXX";
  const int file = mkstemp(name);
  unlink(name);
  ASSERT_EQ(ftruncate(file, 64 * kPageSize), 0);
  Victim victim([&](VictimReport* report) {
    void* mapped = mmap(nullptr, 64 * kPageSize, PROT_READ | PROT_WRITE, MAP_PRIVATE, file, 0);
    const uint64_t memory = reinterpret_cast<uint64_t>(mapped);
    madvise(mapped, 64 * kPageSize, MADV_RANDOM);  // no fault-around
    Write(memory, 0, 4);
    Read(memory, 10, 4);
    report->values[0] = memory;
    ServeSteps(report, [&](uint64_t step) { step == 1 ? Read(memory, 4, 2) : Write(memory, 12, 1); });
  });
  victim.WaitReady();
  const uint64_t memory = victim.report().values[0];
  Watch watch(victim.pid(), {memory, memory + 64 * kPageSize});
  Stepper stepper{&victim.report()};
  using Pages = std::vector<PageRange>;
  EXPECT_EQ(watch.LookAndReset(), (Pages{{0, 4}}));
  stepper.Run(1);
  EXPECT_EQ(watch.LookAndReset(), Pages{});
  stepper.Run(2);
  EXPECT_EQ(watch.LookAndReset(), (Pages{{12, 13}}));
  close(file);
}

TEST(UntouchedMemory, HugePagesAreLeftWhole) {
  constexpr uint64_t kPages = 8 * kPagesPerHugePage;
  Victim victim([](VictimReport* report) {
    uint64_t memory = MapPages(kPages + kPagesPerHugePage);
    memory = (memory + kHugePageSize - 1) / kHugePageSize * kHugePageSize;
    madvise(reinterpret_cast<void*>(memory), kPages / 2 * kPageSize, MADV_HUGEPAGE);
    madvise(reinterpret_cast<void*>(memory + kPages / 2 * kPageSize), kPages / 2 * kPageSize,
            MADV_NOHUGEPAGE);
    Write(memory, 0, kPages);
    report->values[0] = memory;
    ServeSteps(report, [&](uint64_t) { Write(memory, 0, kPages); });
  });
  victim.WaitReady();
  const uint64_t memory = victim.report().values[0];
  Watch watch(victim.pid(), {memory, memory + kPages * kPageSize});
  if (watch.coverage.huge_pages_skipped == 0) GTEST_SKIP() << "no transparent huge page could be had";
  EXPECT_EQ(watch.coverage.huge_pages_skipped, kPages / 2);
  EXPECT_EQ(watch.TestedPages(), kPages / 2);
  Stepper stepper{&victim.report()};
  watch.LookAndReset();
  stepper.Run(1);
  watch.LookAndReset();
  watch.Cover({});
  EXPECT_EQ(watch.coverage.huge_pages_skipped, kPages / 2);
  EXPECT_EQ((*watch.tracker)->effect().huge_pages_split, 0u);

  CoverOptions all;
  all.include_huge = true;
  watch.Cover(all);
  EXPECT_EQ(watch.TestedPages(), kPages);
  watch.LookAndReset();
  stepper.Run(2);
  watch.LookAndReset();
  watch.Cover(all);
  EXPECT_EQ((*watch.tracker)->effect().huge_pages_split, kPages / 2 / kPagesPerHugePage);
}

}  // namespace
}  // namespace mempulse
