#include <gtest/gtest.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <tuple>

#include "collectors/pages/writeprotect_tracker.h"
#include "collectors/targets/mapping_list.h"
#include "tests/safety/checked_work.h"
#include "tests/safety/victim.h"

// SIGKILL of the exporter at any moment leaves the target alive, right, untraced, unprotected and with no
// descriptor that it did not open.
namespace mempulse {
namespace {

constexpr int kRoundsPerStage = 3;
constexpr int kSweepKills = 20;

// The exporter's part, in a child of its own: attaches and reports stages.
pid_t StartAttachingExporter(pid_t target, int stage_fd) {
  const pid_t exporter = fork();
  if (exporter != 0) return exporter;
  const Host host;
  const absl::StatusOr<Target> opened = TargetOf(host, target);
  AttachOptions options;
  options.stage_fd = stage_fd;
  if (opened.ok()) static_cast<void>(AttachUserfaultfd(host, *opened, options));
  _exit(0);
}

void Reap(pid_t child) { waitpid(child, nullptr, 0); }

// The helper outlives the exporter and becomes our child.
void ReapOrphans() {
  while (waitpid(-1, nullptr, __WALL | WNOHANG) > 0) {
  }
}

// Answers stages until `last`, kills the exporter there, and lets the helper go on to its end.
void KillAt(AttachStage last, pid_t exporter, int control) {
  bool killed = false;
  uint8_t stage = 0;
  while (read(control, &stage, 1) == 1) {
    if (stage == static_cast<uint8_t>(last) && !killed) {
      kill(exporter, SIGKILL);
      Reap(exporter);
      killed = true;
      SleepMicros(2000);
    }
    if (write(control, &stage, 1) != 1) break;
  }
  EXPECT_TRUE(killed) << "stage " << static_cast<int>(last) << " was never reached";
  if (!killed) Reap(exporter);
}

class ExporterKilled : public testing::TestWithParam<std::tuple<int, bool>> {};

TEST_P(ExporterKilled, AtAStageOfTheAttach) {
  const auto stage = static_cast<AttachStage>(std::get<0>(GetParam()));
  const bool sleeping = std::get<1>(GetParam());
  prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
  Victim victim([&](VictimReport* report) { WorkUntilFinish(report, sleeping); });
  victim.WaitReady();
  for (int round = 0; round < kRoundsPerStage; ++round) {
    int control[2];
    ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, control), 0);
    const pid_t exporter = StartAttachingExporter(victim.pid(), control[1]);
    close(control[1]);
    KillAt(stage, exporter, control[0]);
    close(control[0]);
    ExpectUntouched(&victim);
  }
  victim.report().finish = true;
  EXPECT_EQ(victim.WaitEnd(), 0);
  ReapOrphans();
}

INSTANTIATE_TEST_SUITE_P(Stages, ExporterKilled,
                         testing::Combine(testing::Range(static_cast<int>(AttachStage::kForked),
                                                         static_cast<int>(AttachStage::kDone) + 1),
                                          testing::Bool()));

// Attaches and then resets and looks without a pause.
[[noreturn]] void SweepForever(pid_t target) {
  const Host host;
  const absl::StatusOr<Target> opened = TargetOf(host, target);
  if (!opened.ok()) _exit(1);
  absl::StatusOr<std::unique_ptr<PageTracker>> tracker = OpenWriteProtectTracker(host, *opened);
  if (!tracker.ok()) _exit(2);
  bool truncated = false;
  for (;;) {
    const absl::StatusOr<std::vector<Mapping>> mappings = ReadMappings(host, target, &truncated);
    const absl::StatusOr<Coverage> coverage =
        (*tracker)->Cover(mappings.value_or(std::vector<Mapping>{}), {});
    if (!coverage.ok()) _exit(3);
    Instant reset;
    std::vector<PageRange> written;
    for (int i = 0; i < 100; ++i) {
      written.clear();
      static_cast<void>((*tracker)->LookAndReset(coverage->ranges, &written, &reset));
    }
  }
}

TEST(ExporterKilledSweeping, LeavesTheTargetRightAndUnprotected) {
  Victim victim([](VictimReport* report) { WorkUntilFinish(report, false); });
  victim.WaitReady();
  for (int i = 0; i < kSweepKills; ++i) {
    const pid_t exporter = fork();
    if (exporter == 0) SweepForever(victim.pid());
    SleepMicros(10'000 + i * 3'000);
    EXPECT_EQ(waitpid(exporter, nullptr, WNOHANG), 0) << "the exporter ended by itself";
    kill(exporter, SIGKILL);
    Reap(exporter);
    ExpectUntouched(&victim);
  }
  printf("%d kills in the middle of a sweep, %lu rounds of work, %lu errors\n", kSweepKills,
         static_cast<unsigned long>(victim.report().rounds),
         static_cast<unsigned long>(victim.report().errors));
}

}  // namespace
}  // namespace mempulse
