#include "collectors/pages/attach_threads.h"

#include <gtest/gtest.h>
#include <sys/syscall.h>

#include <initializer_list>
#include <string>

namespace mempulse {
namespace {

constexpr char kSleeping[] = "42 (worker) S 1 42 42 0 -1 4194560 100 0 0 0 1 2 0 0 20 0 3 0 555 1000 20";

AttachThread Blocked(int64_t call) {
  AttachThread thread;
  thread.state = 'S';
  thread.system_call = call;
  return thread;
}

TEST(AttachThreadsTest, ReadsStateAndFlags) {
  const absl::StatusOr<AttachThread> thread = ParseAttachThread(kSleeping);
  ASSERT_TRUE(thread.ok());
  EXPECT_EQ(thread->id, 42);
  EXPECT_EQ(thread->state, 'S');
  EXPECT_TRUE(thread->in_user_space_ever);
}

TEST(AttachThreadsTest, NameMayHoldAnything) {
  const absl::StatusOr<AttachThread> thread = ParseAttachThread("7 (a) D 1 2 (x) R 1 7 7 0 -1 64 0 0");
  ASSERT_TRUE(thread.ok());
  EXPECT_EQ(thread->state, 'R');
}

TEST(AttachThreadsTest, RefusesWhatIsNoStatLine) {
  for (const char* text :
       {"", "x", "1 (a)", "1 (a) S 1 2", "x (a) S 1 1 1 0 -1 64 0", "1 (a) S 1 1 1 0 -1 flags 0"}) {
    EXPECT_FALSE(ParseAttachThread(text).ok()) << text;
  }
}

TEST(AttachThreadsTest, WorkersOfTheKernelAreNeverTried) {
  // 0x4000 user worker (vhost), 0x10 io_uring worker, 0x200000 kernel thread.
  for (const char* flags : {"16384", "16", "2097152"}) {
    const std::string text = std::string("9 (iou-wrk-8) S 1 9 9 0 -1 ") + flags + " 0 0";
    const absl::StatusOr<AttachThread> thread = ParseAttachThread(text);
    ASSERT_TRUE(thread.ok());
    EXPECT_LT(AttachRank(*thread), 0) << flags;
  }
}

TEST(AttachThreadsTest, ExitingThreadsAreNeverTried) {
  const absl::StatusOr<AttachThread> thread = ParseAttachThread("9 (a) R 1 9 9 0 -1 4 0 0");
  ASSERT_TRUE(thread.ok());
  EXPECT_LT(AttachRank(*thread), 0);
}

TEST(AttachThreadsTest, RanksTheHarmlessFirst) {
  AttachThread running;
  running.state = 'R';
  EXPECT_EQ(AttachRank(Blocked(SYS_futex)), 0);
  EXPECT_EQ(AttachRank(Blocked(SYS_poll)), 0);
  EXPECT_LT(AttachRank(Blocked(SYS_futex)), AttachRank(Blocked(SYS_epoll_wait)));
  EXPECT_LT(AttachRank(Blocked(SYS_epoll_wait)), AttachRank(running));
  EXPECT_LT(AttachRank(running), AttachRank(Blocked(SYS_close)));
  for (const char state : {'D', 'Z', 'X', 't'}) {
    AttachThread thread;
    thread.state = state;
    EXPECT_LT(AttachRank(thread), 0) << state;
  }
}

TEST(AttachThreadsTest, OnlyCallsWithoutEffectAreStartedAgain) {
  for (const int64_t call : std::initializer_list<int64_t>{
           SYS_epoll_wait, SYS_epoll_pwait2, SYS_recvfrom, SYS_rt_sigtimedwait, SYS_semtimedop,
           SYS_io_getevents, SYS_io_uring_enter, SYS_read, SYS_accept4}) {
    EXPECT_TRUE(IsSafeToRestart(call)) << call;
  }
  for (const int64_t call : std::initializer_list<int64_t>{SYS_close, SYS_dup2, SYS_execve, SYS_unlink, -1}) {
    EXPECT_FALSE(IsSafeToRestart(call)) << call;
  }
}

}  // namespace
}  // namespace mempulse
