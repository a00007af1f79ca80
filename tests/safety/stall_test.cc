#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <cstdio>

#include "collectors/pages/pagemap.h"
#include "collectors/pages/writeprotect_tracker.h"
#include "collectors/targets/mapping_list.h"
#include "tests/safety/victim.h"

// A thread of the target that maps and unmaps memory never waits long for us, however large the process.
namespace mempulse {
namespace {

constexpr uint64_t kPages = (uint64_t{2} << 30) / kPageSize;
constexpr int64_t kLongestMicros = 20'000;

void KeepMaximum(int64_t value, std::atomic<int64_t>* maximum) {
  for (int64_t now = *maximum; value > now && !maximum->compare_exchange_weak(now, value);) {
  }
}

// Touches 2 GiB and then measures the longest mmap + munmap since the test last set `elapsed_micros` to 0.
void MapInALoop(VictimReport* report) {
  void* memory =
      mmap(nullptr, kPages * kPageSize, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  madvise(memory, kPages * kPageSize, MADV_NOHUGEPAGE);
  for (uint64_t i = 0; i < kPages; ++i) static_cast<char*>(memory)[i * kPageSize] = 1;
  report->ready = true;
  while (!report->finish) {
    const int64_t begin = NowMicros();
    void* small = mmap(nullptr, kPageSize, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    munmap(small, kPageSize);
    KeepMaximum(NowMicros() - begin, &report->elapsed_micros);
    ++report->rounds;
  }
}

class Stall : public testing::Test {
 protected:
  // The longest wait of the victim while `action` ran.
  template <typename Action>
  int64_t Measure(const char* name, Action action) {
    victim_.report().elapsed_micros = 0;
    const int64_t begin = NowMicros();
    action();
    const int64_t spent = NowMicros() - begin;
    const int64_t longest = victim_.report().elapsed_micros;
    printf("%-22s took %8.1f ms, longest mmap+munmap of the target %6.2f ms\n", name,
           static_cast<double>(spent) / 1000, static_cast<double>(longest) / 1000);
    return longest;
  }

  Victim victim_{MapInALoop};
};

TEST_F(Stall, IsShortWhileOpeningSweepingAndClosing) {
  ASSERT_TRUE(Eventually([&] { return victim_.report().ready.load(); }));
  const int64_t alone = Measure("nobody attached", [] { SleepMicros(300'000); });
  const int64_t bar = kLongestMicros + alone;  // a busy machine stalls the loop without our help
  const Host host;
  const absl::StatusOr<Target> target = TargetOf(host, victim_.pid());
  ASSERT_TRUE(target.ok()) << target.status();
  absl::StatusOr<std::unique_ptr<PageTracker>> tracker = absl::InternalError("");
  Coverage coverage;
  std::vector<PageRange> written;
  Instant reset;
  const auto look = [&] {
    written.clear();
    static_cast<void>((*tracker)->LookAndReset(coverage.ranges, &written, &reset));
  };
  EXPECT_LT(Measure("open", [&] { tracker = OpenWriteProtectTracker(host, *target); }), bar);
  ASSERT_TRUE(tracker.ok()) << tracker.status();
  EXPECT_LT(
      Measure(
          "cover",
          [&] {
            bool truncated = false;
            coverage =
                (*tracker)->Cover(*ReadMappings(host, target->pid(), &truncated), {}).value_or(Coverage{});
          }),
      bar);
  EXPECT_GE(coverage.pages, kPages);
  EXPECT_LT(Measure("first reset", [&] { static_cast<void>((*tracker)->Reset(coverage.ranges)); }), bar);
  EXPECT_LT(Measure("100 looks with reset",
                    [&] {
                      for (int i = 0; i < 100; ++i) look();
                    }),
            bar);
  EXPECT_LT(Measure("close", [&] { tracker->reset(); }), bar);
  EXPECT_TRUE(victim_.Progresses());
}

}  // namespace
}  // namespace mempulse
