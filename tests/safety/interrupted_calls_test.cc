#include <gtest/gtest.h>

#include <cerrno>
#include <cstdio>

#include "tests/safety/blocking_calls.h"
#include "tests/safety/victim.h"

// A target that is blocked in a system call while somebody attaches to it must not notice: the call ends when
// it would have ended, with what it would have returned.
namespace mempulse {
namespace {

constexpr int kCycles = 200;
constexpr int64_t kSlackMicros = 400'000;  // a loaded machine

class InterruptedCalls : public testing::TestWithParam<BlockingCall> {};

TEST_P(InterruptedCalls, ReturnsAsIfNobodyHadAttached) {
  const BlockingCall& blocking = GetParam();
  int shared[4] = {-1, -1, -1, -1};
  blocking.prepare(shared);
  Victim victim([&](VictimReport* report) {
    report->ready = true;
    const int64_t begin = NowMicros();
    errno = 0;
    const int64_t result = blocking.call(shared);
    report->error_number = errno;
    report->elapsed_micros = NowMicros() - begin;
    report->result = result;
  });
  victim.WaitReady();
  SleepMicros(20'000);
  int repaired = 0;
  int attached = 0;
  double stopped = 0;
  int64_t last_attach = 0;
  for (; attached < kCycles; ++attached) {
    const absl::StatusOr<AttachResult> result = AttachTo(victim.pid());
    if (!result.ok() && blocking.wake == nullptr && absl::IsNotFound(result.status()))
      break;  // it timed out, rightly
    ASSERT_TRUE(result.ok()) << result.status() << " in cycle " << attached;
    ASSERT_FALSE(result->visible_eintr);
    repaired += result->repaired_eintr ? 1 : 0;
    stopped += result->stop_seconds;
    last_attach = NowMicros();
  }
  if (blocking.wake != nullptr) blocking.wake(shared, victim.pid());
  const int status = victim.WaitEnd();
  EXPECT_EQ(status, 0);
  EXPECT_EQ(victim.report().result, blocking.expected);
  EXPECT_EQ(victim.report().error_number, blocking.expected_errno);
  EXPECT_LT(NowMicros() - last_attach, kBlockedMicros + kSlackMicros);
  if (blocking.wake == nullptr) {
    EXPECT_GE(victim.report().elapsed_micros, kBlockedMicros);
    // A call with a remaining time does not count the time it stood still.
    EXPECT_LT(victim.report().elapsed_micros,
              kBlockedMicros + kSlackMicros + static_cast<int64_t>(stopped * 1e6));
  }
  printf("%-16s %3d attaches, %3d repaired, mean stop %.0f us\n", blocking.name.c_str(), attached, repaired,
         stopped / attached * 1e6);
}

INSTANTIATE_TEST_SUITE_P(All, InterruptedCalls, testing::ValuesIn(AllBlockingCalls()),
                         [](const auto& each) { return each.param.name; });

}  // namespace
}  // namespace mempulse
