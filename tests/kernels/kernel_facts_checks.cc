// What each of Debian's kernels can do, against the table of what they should: the ground that the other
// checks stand on.
#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <string>

#include "collectors/host/host.h"
#include "collectors/host/kernel_facts.h"
#include "collectors/pages/pagemap.h"
#include "collectors/pages/pagemap_scan.h"
#include "collectors/pages/tracker_probe.h"
#include "collectors/pages/userfaultfd.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/kernels/guest_kernel.h"

namespace mempulse {
namespace {

TrackerSupport ProbeOf(TrackerKind kind) {
  for (const TrackerSupport& support : ProbeTrackers(Host())) {
    if (support.kind == kind) return support;
  }
  return {};
}

// What a scan that asks for one category answers on a page that was just written.
absl::Status AskForCategory(uint64_t category) {
  void* area = mmap(nullptr, kPageSize, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  *static_cast<volatile char*>(area) = 1;
  const auto start = reinterpret_cast<uint64_t>(area);
  const Host host;
  const absl::StatusOr<Pagemap> pagemap = Pagemap::Open(host, getpid());
  if (!pagemap.ok()) return pagemap.status();
  ScanQuery query;
  query.any = category;
  query.returned = category;
  PageRegion region;
  absl::Status status =
      ScanPages(pagemap->fd(), {start, start + kPageSize}, query, absl::MakeSpan(&region, 1)).status();
  munmap(area, kPageSize);
  return status;
}

TEST(KernelFacts, SoftDirtyWorksOnEveryKernelOfDebian) {
  const TrackerSupport support = ProbeOf(TrackerKind::kSoftDirty);
  EXPECT_TRUE(support.supported) << support.reason << ": " << support.detail;
}

TEST(KernelFacts, HashingWorksEverywhere) {
  const TrackerSupport support = ProbeOf(TrackerKind::kHashDiff);
  EXPECT_TRUE(support.supported) << support.reason << ": " << support.detail;
}

TEST(KernelFacts, WriteProtectNeedsAsynchronousProtection) {
  const TrackerSupport support = ProbeOf(TrackerKind::kWriteProtect);
  if (ReadGuestKernel().has_wp_async()) {
    EXPECT_TRUE(support.supported) << support.reason << ": " << support.detail;
    return;
  }
  EXPECT_FALSE(support.supported);
  EXPECT_EQ(support.reason, "kernel") << support.detail;
  EXPECT_NE(support.remedy, "");
}

TEST(KernelFacts, UserfaultfdRefusesWhatItDoesNotKnow) {
  absl::StatusOr<UniqueFd> fd = CreateUserfaultfd();
  ASSERT_TRUE(fd.ok()) << fd.status();
  EXPECT_EQ(WriteProtection::Negotiate(std::move(*fd)).ok(), ReadGuestKernel().has_wp_async());
}

TEST(KernelFacts, EachCategoryOfPagemapScan) {
  const GuestKernel kernel = ReadGuestKernel();
  for (const uint64_t category :
       {kPageWpAllowed, kPageWritten, kPageFile, kPagePresent, kPageSwapped, kPageZero, kPageHuge}) {
    EXPECT_EQ(AskForCategory(category).ok(), kernel.has_wp_async()) << "category " << category;
  }
  EXPECT_EQ(AskForCategory(kPageSoftDirty).ok(), kernel.scans_softdirty());
}

TEST(KernelFacts, DebiansSettings) {
  const KernelFacts facts = ReadKernelFacts(Host());
  const GuestKernel kernel = ReadGuestKernel();
  EXPECT_EQ(facts.release, kernel.release);
  EXPECT_EQ(facts.major, kernel.major);
  EXPECT_EQ(facts.minor, kernel.minor);
  EXPECT_TRUE(facts.yama_scope.has_value()) << "Debian's kernels have Yama";
  EXPECT_EQ(facts.perf_event_paranoid.value_or(-1), 3);
  EXPECT_NE(facts.transparent_hugepage, "");
  const absl::StatusOr<std::string> clock =
      Host().ReadFile("/sys/devices/system/clocksource/clocksource0/current_clocksource", 64);
  // A clock that is read through the emulator's devices costs microseconds: windows would not be what they
  // seem.
  EXPECT_THAT(clock.value_or(""), testing::StartsWith("tsc"));
  std::printf("kernel %s: kernel.yama.ptrace_scope=%d, transparent_hugepage=%s\n", kernel.release.c_str(),
              facts.yama_scope.value_or(-1), facts.transparent_hugepage.c_str());
}

}  // namespace
}  // namespace mempulse
