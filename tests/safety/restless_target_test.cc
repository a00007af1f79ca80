#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "collectors/pages/writeprotect_tracker.h"
#include "collectors/targets/mapping_list.h"
#include "tests/safety/checked_work.h"
#include "tests/safety/victim.h"

// Targets that change while they are attached to and scanned. Every answer is allowed but a hang, a crash, a
// damaged target, or a status that blames the machine.
namespace mempulse {
namespace {

using Counts = std::map<std::string, int>;

void Print(const char* name, const Counts& counts) {
  printf("%s:", name);
  for (const auto& [status, count] : counts) printf(" %d %s", count, status.c_str());
  printf("\n");
}

// Opens a tracker and makes `looks` looks; the first status that is not OK.
absl::Status SweepOnce(pid_t pid, int looks) {
  const Host host;
  const absl::StatusOr<Target> target = TargetOf(host, pid);
  if (!target.ok()) return target.status();
  absl::StatusOr<std::unique_ptr<PageTracker>> tracker = OpenWriteProtectTracker(host, *target);
  if (!tracker.ok()) return tracker.status();
  std::vector<PageRange> written;
  for (int i = 0; i < looks; ++i) {
    bool truncated = false;
    const absl::StatusOr<std::vector<Mapping>> mappings = ReadMappings(host, pid, &truncated);
    if (!mappings.ok()) return mappings.status();
    const absl::StatusOr<Coverage> coverage = (*tracker)->Cover(*mappings, {});
    if (!coverage.ok()) return coverage.status();
    Instant reset;
    for (int k = 0; k < 3; ++k) {
      written.clear();
      const absl::StatusOr<Instant> looked = (*tracker)->LookAndReset(coverage->ranges, &written, &reset);
      if (!looked.ok() && !absl::IsFailedPrecondition(looked.status())) return looked.status();
    }
  }
  return absl::OkStatus();
}

void ExpectHarmless(const absl::Status& status) {
  EXPECT_TRUE(status.ok() || absl::IsNotFound(status) || absl::IsDeadlineExceeded(status)) << status;
}

TEST(RestlessTarget, ForksInALoop) {
  Victim victim([](VictimReport* report) {
    CheckedWork work(64);
    report->ready = true;
    while (!report->finish) {
      const pid_t child = fork();
      if (child == 0) {
        VictimReport own;
        for (int i = 0; i < 3; ++i) work.Round(&own);
        _exit(own.errors == 0 ? 0 : 1);
      }
      int status = -1;
      if (waitpid(child, &status, 0) != child || status != 0) ++report->errors;
      work.Round(report);
    }
  });
  victim.WaitReady();
  Counts counts;
  for (int i = 0; i < 60; ++i) {
    const absl::Status status = SweepOnce(victim.pid(), 5);
    ExpectHarmless(status);
    ++counts[absl::StatusCodeToString(status.code())];
  }
  EXPECT_TRUE(victim.Progresses());
  EXPECT_EQ(victim.report().errors, 0u);
  Print("forks", counts);
}

TEST(RestlessTarget, ExecutesInALoop) {
  char name[] = "/tmp/mempulse-safety-XXXXXX";
  const int script = mkstemp(name);
  const char text[] = "i=0; while [ $i -lt 20 ]; do i=$((i+1)); done; exec /bin/sh \"$0\"\n";
  ASSERT_EQ(write(script, text, strlen(text)), static_cast<ssize_t>(strlen(text)));
  Victim victim([&](VictimReport* report) {
    report->ready = true;
    execl("/bin/sh", "sh", name, nullptr);
  });
  victim.WaitReady();
  Counts counts;
  for (int i = 0; i < 150; ++i) {
    const absl::Status status = SweepOnce(victim.pid(), 2);
    ExpectHarmless(status);
    ++counts[absl::StatusCodeToString(status.code())];
    ASSERT_TRUE(victim.Alive());
  }
  unlink(name);
  close(script);
  Print("executes", counts);
}

TEST(RestlessTarget, ExitsDuringTheAttach) {
  Counts counts;
  for (int i = 0; i < 150; ++i) {
    Victim victim([&](VictimReport* report) {
      report->ready = true;
      const int64_t end = NowMicros() + i * 20;
      while (NowMicros() < end) {
      }
    });
    victim.WaitReady();
    const absl::Status status = SweepOnce(victim.pid(), 2);
    ExpectHarmless(status);
    ++counts[absl::StatusCodeToString(status.code())];
    EXPECT_EQ(victim.WaitEnd(), 0);
  }
  Print("exits", counts);
}

TEST(RestlessTarget, ThreadsComeAndGo) {
  Victim victim([](VictimReport* report) {
    report->ready = true;
    while (!report->finish) {
      std::vector<std::thread> threads;
      for (int i = 0; i < 4; ++i) {
        threads.emplace_back([report] {
          CheckedWork work(4);
          work.Round(report);
        });
      }
      for (std::thread& thread : threads) thread.join();
    }
  });
  victim.WaitReady();
  Counts counts;
  for (int i = 0; i < 60; ++i) {
    const absl::Status status = SweepOnce(victim.pid(), 2);
    ExpectHarmless(status);
    ++counts[absl::StatusCodeToString(status.code())];
  }
  EXPECT_TRUE(victim.Progresses());
  EXPECT_EQ(victim.report().errors, 0u);
  Print("threads come and go", counts);
}

// Maps, grows, moves, protects, discards and unmaps, and checks what it wrote.
void RemapForever(VictimReport* report) {
  constexpr size_t kPages = 64;
  constexpr size_t kBytes = kPages * kPageSize;
  report->ready = true;
  while (!report->finish) {
    auto* memory =
        static_cast<char*>(mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    memset(memory, 7, kBytes);
    mprotect(memory, kBytes / 2, PROT_READ);
    mprotect(memory, kBytes / 2, PROT_READ | PROT_WRITE);
    void* moved = mremap(memory, kBytes, 4 * kBytes, MREMAP_MAYMOVE);
    if (moved == MAP_FAILED) {
      // Registered between the two calls of mprotect: the halves could not be joined. See docs of the
      // tracker.
      ++report->values[0];
      munmap(memory, kBytes);
      continue;
    }
    memory = static_cast<char*>(moved);
    madvise(memory, kPageSize, MADV_DONTNEED);
    memory[3 * kBytes] = 9;
    for (size_t i = 0; i < kBytes; i += kPageSize) {
      if (memory[i] != (i == 0 ? 0 : 7)) ++report->errors;
    }
    if (memory[3 * kBytes] != 9) ++report->errors;
    void* replaced =
        mmap(memory, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    if (replaced != memory || memory[kPageSize] != 0) ++report->errors;
    munmap(memory, 4 * kBytes);
    static_cast<void>(!sbrk(static_cast<intptr_t>(report->rounds % 2 == 0 ? kBytes : 0) -
                            static_cast<intptr_t>(report->rounds % 2 == 0 ? 0 : kBytes)));
    ++report->rounds;
  }
}

TEST(RestlessTarget, RemapsItsMemoryInALoop) {
  Victim victim(RemapForever);
  victim.WaitReady();
  Counts counts;
  for (int i = 0; i < 60; ++i) {
    const absl::Status status = SweepOnce(victim.pid(), 20);
    ExpectHarmless(status);
    ++counts[absl::StatusCodeToString(status.code())];
  }
  EXPECT_TRUE(victim.Progresses());
  EXPECT_EQ(victim.report().errors, 0u);
  Print("remaps", counts);
  printf("remaps: %lu rounds, %lu mremap calls refused to the target\n",
         static_cast<unsigned long>(victim.report().rounds),
         static_cast<unsigned long>(victim.report().values[0]));
}

TEST(RestlessTarget, FiftyThreadsKeepWorking) {
  Victim victim([](VictimReport* report) {
    std::vector<std::thread> threads;
    for (int i = 0; i < 50; ++i) threads.emplace_back([=] { WorkUntilFinish(report, i % 2 == 0); });
    for (std::thread& thread : threads) thread.join();
  });
  victim.WaitReady();
  for (int i = 0; i < 15; ++i) {
    const absl::Status status = SweepOnce(victim.pid(), 2);
    EXPECT_TRUE(status.ok()) << status;
  }
  EXPECT_TRUE(victim.Progresses(200));
  victim.report().finish = true;
  EXPECT_EQ(victim.WaitEnd(), 0);
  EXPECT_EQ(victim.report().errors, 0u);
  EXPECT_EQ(victim.report().interrupted, 0u);
  printf("50 threads, 15 attaches, %lu rounds\n", static_cast<unsigned long>(victim.report().rounds));
}

}  // namespace
}  // namespace mempulse
