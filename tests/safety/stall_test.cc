#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

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

// How long this process has waited for a CPU so far: the machine's fault, not ours.
int64_t RunDelayMicros(int schedstat) {
  char text[128] = {};
  long long running = 0;
  long long waiting = 0;
  if (pread(schedstat, text, sizeof(text) - 1, 0) <= 0) return 0;
  sscanf(text, "%lld %lld", &running, &waiting);
  return waiting / 1000;
}

// Touches 2 GiB and then measures the longest mmap + munmap since the test last set `elapsed_micros` to 0.
void MapInALoop(VictimReport* report) {
  void* memory =
      mmap(nullptr, kPages * kPageSize, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  madvise(memory, kPages * kPageSize, MADV_NOHUGEPAGE);
  for (uint64_t i = 0; i < kPages; ++i) static_cast<char*>(memory)[i * kPageSize] = 1;
  const int schedstat = open("/proc/self/schedstat", O_RDONLY | O_CLOEXEC);
  report->ready = true;
  while (!report->finish) {
    const int64_t delayed = RunDelayMicros(schedstat);
    const int64_t begin = NowMicros();
    void* small = mmap(nullptr, kPageSize, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    munmap(small, kPageSize);
    const int64_t waited = NowMicros() - begin;
    if (waited > 500) KeepMaximum(waited - (RunDelayMicros(schedstat) - delayed), &report->elapsed_micros);
    ++report->rounds;
  }
}

class Stall : public testing::Test {
 protected:
  // The longest wait of the victim while `action` ran.
  template <typename Action>
  int64_t Measure(const char* name, Action action) {
    const UniqueFd schedstat(open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC));
    const int64_t delayed = RunDelayMicros(schedstat.get());
    victim_.report().elapsed_micros = 0;
    const int64_t begin = NowMicros();
    action();
    const int64_t spent = NowMicros() - begin;
    const int64_t longest = victim_.report().elapsed_micros;
    // We may have lost the CPU to others with the lock held: the machine's share is not ours to answer for.
    const int64_t preempted = RunDelayMicros(schedstat.get()) - delayed;
    printf("%-22s took %8.1f ms (%.1f ms without a CPU), longest mmap+munmap of the target %6.2f ms\n", name,
           static_cast<double>(spent) / 1000, static_cast<double>(preempted) / 1000,
           static_cast<double>(longest) / 1000);
    return std::max<int64_t>(0, longest - preempted);
  }

  Victim victim_{MapInALoop};
};

TEST_F(Stall, IsShortWhileOpeningSweepingAndClosing) {
  ASSERT_TRUE(Eventually([&] { return victim_.report().ready.load(); }));
  const int64_t alone = Measure("nobody attached", [] { SleepMicros(300'000); });
  const int64_t bar = kLongestMicros + alone;
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
