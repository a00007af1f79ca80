#include <gtest/gtest.h>
#include <sys/rseq.h>

#include <cstdio>
#include <thread>
#include <vector>

#include "tests/safety/victim.h"

// Threads that live in restartable sequences: counters of each CPU are raised with a load, a delay and a
// store, which is right only when every interruption in between starts the sequence anew. A stop that took
// this protection away would show as lost counts.
namespace mempulse {
namespace {

constexpr int kCpus = 256;
constexpr int kThreads = 4;
constexpr int kAttaches = 60;

struct alignas(64) CpuCounter {
  uint64_t count;
};

struct rseq* OwnRseq() {
  return reinterpret_cast<struct rseq*>(static_cast<char*>(__builtin_thread_pointer()) + __rseq_offset);
}

// One more on the counter of the CPU this runs on.
void RaiseCounter(struct rseq* area, CpuCounter* counters) {
  asm volatile(
      ".pushsection __rseq_cs, \"aw\"\n\t"
      ".balign 32\n\t"
      "3:\n\t"
      ".long 0, 0\n\t"
      ".quad 1f, 2f - 1f, 4f\n\t"
      ".popsection\n\t"
      "0:\n\t"
      "leaq 3b(%%rip), %%rax\n\t"
      "movq %%rax, %c[cs](%[area])\n\t"
      "1:\n\t"
      "movl %c[cpu](%[area]), %%eax\n\t"
      "shlq $6, %%rax\n\t"
      "addq %[counters], %%rax\n\t"
      "movq (%%rax), %%rdx\n\t"
      "movl $200, %%ecx\n\t"
      "5:\n\t"
      "decl %%ecx\n\t"
      "jnz 5b\n\t"
      "incq %%rdx\n\t"
      "movq %%rdx, (%%rax)\n\t"
      "2:\n\t"
      ".pushsection __rseq_failure, \"ax\"\n\t"
      ".byte 0x0f, 0xb9, 0x3d\n\t"
      ".long 0x53053053\n\t"
      "4:\n\t"
      "jmp 0b\n\t"
      ".popsection\n\t"
      :
      : [area] "r"(area), [counters] "r"(counters), [cs] "i"(offsetof(struct rseq, rseq_cs)),
        [cpu] "i"(offsetof(struct rseq, cpu_id))
      : "rax", "rcx", "rdx", "memory", "cc");
}

void CountInSequences(VictimReport* report) {
  static CpuCounter counters[kCpus];
  std::atomic<uint64_t> raised{0};
  std::vector<std::thread> threads;
  const auto raise = [&] {
    uint64_t own = 0;
    for (; !report->finish; ++own) {
      RaiseCounter(OwnRseq(), counters);
      if (own % 1024 == 0) ++report->rounds;
    }
    raised += own;
  };
  for (int i = 1; i < kThreads; ++i) threads.emplace_back(raise);
  report->ready = true;
  raise();  // this thread too: one that slept would be the one that is stopped
  for (std::thread& thread : threads) thread.join();
  uint64_t counted = 0;
  for (const CpuCounter& counter : counters) counted += counter.count;
  report->values[0] = raised.load();
  report->values[1] = counted;
}

TEST(RseqTarget, LosesNoCount) {
  if (__rseq_size == 0) GTEST_SKIP() << "the C library did not register restartable sequences";
  Victim victim(CountInSequences);
  victim.WaitReady();
  int attached = 0;
  int refused = 0;
  for (int i = 0; i < kAttaches; ++i) {
    const absl::StatusOr<AttachResult> result = AttachTo(victim.pid());
    ASSERT_TRUE(result.ok() || absl::IsUnavailable(result.status())) << result.status();
    ++(result.ok() ? attached : refused);
  }
  EXPECT_TRUE(victim.Progresses());
  victim.report().finish = true;
  EXPECT_EQ(victim.WaitEnd(), 0);
  EXPECT_GT(victim.report().values[0], 0u);
  EXPECT_EQ(victim.report().values[1], victim.report().values[0]);
  EXPECT_GT(attached, kAttaches / 4);
  printf("%d attaches, %d refused inside sequences, %lu counts, none lost\n", attached, refused,
         static_cast<unsigned long>(victim.report().values[1]));
}

}  // namespace
}  // namespace mempulse
