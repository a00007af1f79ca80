#include <gtest/gtest.h>
#include <signal.h>
#include <sys/time.h>

#include <algorithm>
#include <atomic>
#include <cstdio>

#include "tests/safety/checked_work.h"
#include "tests/safety/victim.h"

// Signals that arrive during an attach: none lost, none doubled, none with other data than it was sent with.
namespace mempulse {
namespace {

constexpr int kAttaches = 200;

VictimReport* handler_report = nullptr;

void CountQueued(int, siginfo_t* info, void*) {
  ++handler_report->signals;
  handler_report->values[0] += static_cast<uint64_t>(info->si_value.sival_int);
}

void CountTimer(int) { ++handler_report->values[1]; }

void InstallHandlers(VictimReport* report) {
  handler_report = report;
  struct sigaction queued {};
  queued.sa_sigaction = CountQueued;
  queued.sa_flags = SA_SIGINFO | SA_RESTART;
  sigaction(SIGRTMIN, &queued, nullptr);
  struct sigaction timer {};
  timer.sa_handler = CountTimer;
  timer.sa_flags = SA_RESTART;
  sigaction(SIGALRM, &timer, nullptr);
  signal(SIGTRAP, SIG_IGN);
}

TEST(Signals, AreDeliveredExactlyOnceDuringAttaches) {
  Victim victim([](VictimReport* report) {
    InstallHandlers(report);
    const itimerval storm{{0, 1000}, {0, 1000}};
    setitimer(ITIMER_REAL, &storm, nullptr);
    WorkUntilFinish(report, false);
  });
  victim.WaitReady();
  uint64_t sent = 0;
  uint64_t sum = 0;
  const auto send = [&] {
    const sigval value{static_cast<int>(++sent)};
    ASSERT_EQ(sigqueue(victim.pid(), SIGRTMIN, value), 0);
    sum += sent;
  };
  for (int i = 0; i < kAttaches; ++i) {
    for (int k = 0; k < 3; ++k) send();
    const absl::StatusOr<AttachResult> attached = AttachTo(victim.pid());
    ASSERT_TRUE(attached.ok()) << attached.status();
    send();
  }
  EXPECT_TRUE(Eventually([&] { return victim.report().signals >= sent; }));
  EXPECT_TRUE(victim.Progresses());
  EXPECT_EQ(victim.report().signals, sent);
  EXPECT_EQ(victim.report().values[0], sum);
  EXPECT_GT(victim.report().values[1], 0u);
  EXPECT_EQ(victim.report().errors, 0u);
  // Had a step of ours ever raised SIGTRAP, the kernel would have replaced "ignore" by "default".
  EXPECT_EQ(StatusField(victim.pid(), "SigIgn"), "0000000000000010");
  printf("%lu signals sent and seen, %lu timer signals, %d attaches\n", static_cast<unsigned long>(sent),
         static_cast<unsigned long>(victim.report().values[1]), kAttaches);
}

TEST(Signals, StoppedTargetStaysStoppedAndGoesOn) {
  Victim victim([](VictimReport* report) { WorkUntilFinish(report, true); });
  victim.WaitReady();
  for (int i = 0; i < 20; ++i) {
    kill(victim.pid(), SIGSTOP);
    ASSERT_TRUE(Eventually([&] { return StatusField(victim.pid(), "State")[0] == 'T'; }));
    const absl::StatusOr<AttachResult> attached = AttachTo(victim.pid());
    ASSERT_TRUE(attached.ok()) << attached.status();
    ASSERT_TRUE(Eventually([&] { return StatusField(victim.pid(), "State")[0] == 'T'; }));
    const uint64_t rounds = victim.report().rounds;
    SleepMicros(5000);
    EXPECT_EQ(victim.report().rounds, rounds);
    kill(victim.pid(), SIGCONT);
    ASSERT_TRUE(victim.Progresses());
  }
  EXPECT_EQ(victim.report().errors, 0u);
}

TEST(Signals, StopThatArrivesDuringAnAttachIsKept) {
  Victim victim([](VictimReport* report) { WorkUntilFinish(report, false); });
  victim.WaitReady();
  for (int i = 0; i < 50; ++i) {
    Victim stopper([&](VictimReport*) {
      SleepMicros(i * 40);
      kill(victim.pid(), SIGSTOP);
    });
    const absl::StatusOr<AttachResult> attached = AttachTo(victim.pid());
    ASSERT_TRUE(attached.ok()) << attached.status();
    EXPECT_EQ(stopper.WaitEnd(), 0);
    ASSERT_TRUE(Eventually([&] { return StatusField(victim.pid(), "State")[0] == 'T'; })) << "round " << i;
    kill(victim.pid(), SIGCONT);
    ASSERT_TRUE(victim.Progresses());
  }
  EXPECT_EQ(victim.report().errors, 0u);
}

}  // namespace
}  // namespace mempulse
