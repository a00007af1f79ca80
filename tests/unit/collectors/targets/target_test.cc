#include "collectors/targets/target.h"

#include <gtest/gtest.h>
#include <pthread.h>
#include <sched.h>
#include <sys/syscall.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "collectors/targets/process_stat.h"
#include "tests/unit/collectors/targets/child_process.h"

namespace mempulse {
namespace {

using Change = Target::Change;

Target OpenTarget(pid_t pid, const Host& host = Host()) {
  absl::StatusOr<ProcessFacts> facts = ReadProcessFacts(host, pid);
  EXPECT_TRUE(facts.ok()) << facts.status();
  absl::StatusOr<Target> target = Target::Open(host, *std::move(facts));
  EXPECT_TRUE(target.ok()) << target.status();
  return *std::move(target);
}

Change Check(const Target& target, const Host& host = Host()) {
  const absl::StatusOr<Change> change = target.Check(host);
  EXPECT_TRUE(change.ok()) << change.status();
  return change.value_or(Change::kNone);
}

std::string DescribeEvidence(const Host& host, const ExecutionMarks& before, pid_t pid) {
  const ExecutionMarks after = ReadExecutionMarks(host, *ReadProcessStat(host, pid));
  return absl::StrCat(before.start_code != after.start_code ? "start_code " : "",
                      before.start_stack != after.start_stack ? "start_stack " : "",
                      before.auxiliary_vector != after.auxiliary_vector ? "auxv " : "",
                      before.exe_inode != after.exe_inode ? "exe " : "");
}

TEST(TargetTest, NoticesNothingInAProcessThatGoesOn) {
  const ChildProcess child({"/bin/cat"});
  child.WriteLine("x");
  child.ReadLine();
  const Target target = OpenTarget(child.pid());
  EXPECT_GE(target.pidfd(), 0);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(Check(target), Change::kNone);
}

TEST(TargetTest, NoticesTheExecOfAnotherBinary) {
  const ChildProcess child({"/bin/sh", "-c", "echo ready; read line; exec /bin/cat"});
  child.ReadLine();
  const Target target = OpenTarget(child.pid());
  EXPECT_EQ(Check(target), Change::kNone);
  child.WriteLine("go");
  child.WriteLine("through cat");
  EXPECT_EQ(child.ReadLine(), "through cat");
  EXPECT_EQ(Check(target), Change::kExecuted);
  EXPECT_EQ(Check(target), Change::kExecuted);
  EXPECT_EQ(Check(OpenTarget(child.pid())), Change::kNone);
}

TEST(TargetTest, NoticesTheExecOfTheSameBinary) {
  const ChildProcess child(SelfReplacingShell());
  child.ReadLine();
  const Target target = OpenTarget(child.pid());
  const ExecutionMarks before = ReadExecutionMarks(Host(), *ReadProcessStat(Host(), child.pid()));
  child.WriteLine("again");
  EXPECT_EQ(child.ReadLine(), "ready");
  EXPECT_EQ(Check(target), Change::kExecuted);
  RecordProperty("evidence", DescribeEvidence(Host(), before, child.pid()));
}

TEST(TargetTest, NoticesTheExecOfTheSameBinaryAtTheSameAddresses) {
  const ChildProcess child(SelfReplacingShell(), WithoutRandomAddresses);
  child.ReadLine();
  child.WriteLine("the first exec settles the environment");
  child.ReadLine();
  const Target target = OpenTarget(child.pid());
  const ExecutionMarks before = ReadExecutionMarks(Host(), *ReadProcessStat(Host(), child.pid()));
  child.WriteLine("again");
  EXPECT_EQ(child.ReadLine(), "ready");
  // No mark tells: only the address space of the moment of Open does.
  EXPECT_FALSE(ShowExec(before, ReadExecutionMarks(Host(), *ReadProcessStat(Host(), child.pid()))));
  EXPECT_EQ(Check(target), Change::kExecuted);
}

TEST(TargetTest, NoticesTheExecThatLeavesASharedAddressSpace) {
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
  GTEST_SKIP()
      << "the runtime of ThreadSanitizer aborts in a child that shares its memory (clone with CLONE_VM)";
#endif
#endif
  int gate[2];
  int done[2];
  ASSERT_EQ(pipe2(gate, O_CLOEXEC), 0);
  ASSERT_EQ(pipe2(done, O_CLOEXEC), 0);
  static int waits_at = -1;
  waits_at = gate[0];
  std::vector<char> stack(256 << 10);
  // As posix_spawn and vfork do: the child lives in this process' memory until it execs.
  const pid_t pid = clone(
      [](void*) -> int {
        char c = 0;
        if (read(waits_at, &c, 1) == 1) execl("/bin/sleep", "sleep", "100", nullptr);
        _exit(1);
      },
      stack.data() + stack.size(), CLONE_VM | SIGCHLD, nullptr);
  ASSERT_GT(pid, 0);
  const Target target = OpenTarget(pid);
  EXPECT_EQ(Check(target), Change::kNone);
  ASSERT_EQ(write(gate[1], "x", 1), 1);
  // Its copy of `done` closes when it execs, or ends.
  close(done[1]);
  char c = 0;
  EXPECT_EQ(read(done[0], &c, 1), 0);
  EXPECT_EQ(Check(target), Change::kExecuted);
  kill(pid, SIGKILL);
  waitpid(pid, nullptr, 0);
  for (int fd : {gate[0], gate[1], done[0]}) close(fd);
}

TEST(TargetTest, ReadsExitOfAZombieAndOfAReapedProcess) {
  ChildProcess child({"/bin/cat"});
  const Target target = OpenTarget(child.pid());
  child.Kill();
  child.AwaitZombie();
  EXPECT_EQ(Check(target), Change::kExited);
  child.Reap();
  EXPECT_EQ(Check(target), Change::kExited);
}

TEST(TargetTest, AProcessWhoseFirstThreadEndedIsStillThere) {
  const ChildProcess child([] {
    pthread_t thread;
    pthread_create(
        &thread, nullptr,
        [](void*) -> void* {
          char c = 0;
          while (read(STDIN_FILENO, &c, 1) == 1) {
          }
          _exit(0);
        },
        nullptr);
    syscall(SYS_exit, 0);
  });
  const Target target = OpenTarget(child.pid());
  while (ReadProcessStat(Host(), child.pid())->state != 'Z') sched_yield();
  EXPECT_EQ(Check(target), Change::kNone);
}

TEST(TargetTest, RefusesAnotherStartTime) {
  const ChildProcess child({"/bin/cat"});
  ProcessFacts facts = *ReadProcessFacts(Host(), child.pid());
  ++facts.id.start_time_ticks;
  EXPECT_TRUE(absl::IsNotFound(Target::Open(Host(), facts).status()));
}

TEST(TargetTest, RefusesAProcessThatEnded) {
  ChildProcess child({"/bin/cat"});
  const ProcessFacts facts = *ReadProcessFacts(Host(), child.pid());
  child.Kill();
  child.AwaitZombie();
  EXPECT_TRUE(absl::IsNotFound(Target::Open(Host(), facts).status()));
  child.Reap();
  EXPECT_TRUE(absl::IsNotFound(Target::Open(Host(), facts).status()));
}

// Gives a new child the number of one that ended, if the kernel lets us.
bool ForkWithNumber(pid_t pid, std::unique_ptr<ChildProcess>* child) {
  constexpr int kAttempts = 300;
  for (int i = 0; i < kAttempts; ++i) {
    if (!(std::ofstream("/proc/sys/kernel/ns_last_pid") << pid - 1 << std::flush)) return false;
    *child = std::make_unique<ChildProcess>(std::vector<std::string>{"/bin/cat"});
    if ((*child)->pid() == pid) return true;
  }
  return false;
}

TEST(TargetTest, ANumberThatWentToAnotherProcessIsAnExit) {
  auto first = std::make_unique<ChildProcess>(std::vector<std::string>{"/bin/cat"});
  const pid_t pid = first->pid();
  const Target target = OpenTarget(pid);
  const ProcessFacts facts = target.facts();
  first.reset();
  std::unique_ptr<ChildProcess> second;
  // The start time has a resolution of 10 ms.
  while (true) {
    if (!ForkWithNumber(pid, &second))
      GTEST_SKIP() << "cannot choose the next pid through /proc/sys/kernel/ns_last_pid";
    if (!(ReadProcessStat(Host(), pid)->id == facts.id)) break;
    second.reset();
  }
  EXPECT_EQ(Check(target), Change::kExited);
  EXPECT_TRUE(absl::IsNotFound(Target::Open(Host(), facts).status()));
}

// Runs `body` as another user without any capability; true when it returned true there.
bool AsNobody(const std::function<bool()>& body) {
  ChildProcess child([&body] {
    BecomeNobody();
    _exit(body() ? 0 : 1);
  });
  return child.Reap() == 0;
}

TEST(TargetAccessTest, SameUserWithoutPtraceNoticesTheSameBinaryAtTheSameAddresses) {
  if (geteuid() != 0) GTEST_SKIP() << "needs root to become another user";
  const ChildProcess child(SelfReplacingShell(), [] {
    BecomeNobody();
    WithoutRandomAddresses();
  });
  child.ReadLine();
  EXPECT_TRUE(AsNobody([&child] {
    // What reading needs is PTRACE_MODE_READ, which Yama leaves alone and no capability is needed for.
    const Target target = OpenTarget(child.pid());
    if (Check(target) != Change::kNone) return false;
    child.WriteLine("again");
    return child.ReadLine() == "ready" && Check(target) == Change::kExecuted;
  }));
}

TEST(TargetAccessTest, AnotherUserSeesExitButNoExec) {
  if (geteuid() != 0) GTEST_SKIP() << "needs root to become another user";
  const ChildProcess child(SelfReplacingShell());
  child.ReadLine();
  EXPECT_TRUE(AsNobody([&child] {
    const Target target = OpenTarget(child.pid());
    const ExecutionMarks marks = ReadExecutionMarks(Host(), *ReadProcessStat(Host(), child.pid()));
    if (marks.start_code != 0 || marks.start_stack != 0 || !marks.auxiliary_vector.empty()) return false;
    child.WriteLine("again");
    return child.ReadLine() == "ready" && Check(target) == Change::kNone;
  }));
}

TEST(TargetAccessTest, AnotherUserNoticesTheFirstExecAfterAFork) {
  if (geteuid() != 0) GTEST_SKIP() << "needs root to become another user";
  const ChildProcess child([] {
    char c = 0;
    if (read(STDIN_FILENO, &c, 1) == 1) execl("/bin/cat", "cat", nullptr);
  });
  EXPECT_TRUE(AsNobody([&child] {
    const Target target = OpenTarget(child.pid());
    child.WriteLine("");
    child.WriteLine("x");
    return child.ReadLine() == "x" && Check(target) == Change::kExecuted;
  }));
}

// A writable copy of one process of the fixture tree.
class FixtureTargetTest : public testing::Test {
 protected:
  FixtureTargetTest() : root_(testing::TempDir() + "mempulse_target_proc"), host_(root_) {
    std::filesystem::remove_all(root_);
    std::filesystem::create_directories(root_);
    std::filesystem::copy(
        MEMPULSE_SOURCE_DIR "/tests/fixtures/proc/200", root_ + "/200",
        std::filesystem::copy_options::recursive | std::filesystem::copy_options::copy_symlinks);
  }
  ~FixtureTargetTest() override { std::filesystem::remove_all(root_); }

  void ReplaceInStat(const std::string& from, const std::string& to) {
    std::stringstream text;
    text << std::ifstream(root_ + "/200/stat").rdbuf();
    std::ofstream(root_ + "/200/stat") << absl::StrReplaceAll(text.str(), {{from, to}});
  }

  std::string root_;
  Host host_;
};

TEST_F(FixtureTargetTest, HasNoPidfd) {
  const Target target = OpenTarget(200, host_);
  EXPECT_LT(target.pidfd(), 0);
  EXPECT_EQ(Check(target, host_), Change::kNone);
}

TEST_F(FixtureTargetTest, AnotherStartTimeIsAnExit) {
  const Target target = OpenTarget(200, host_);
  ReplaceInStat(" 3000 ", " 3001 ");
  EXPECT_EQ(Check(target, host_), Change::kExited);
}

TEST_F(FixtureTargetTest, AZombieAndAnAbsentProcessAreExits) {
  const Target target = OpenTarget(200, host_);
  ReplaceInStat(") S ", ") Z ");
  EXPECT_EQ(Check(target, host_), Change::kExited);
  std::filesystem::remove_all(root_ + "/200");
  EXPECT_EQ(Check(target, host_), Change::kExited);
}

TEST_F(FixtureTargetTest, OtherCodeAddressesAreAnExec) {
  const Target target = OpenTarget(200, host_);
  ReplaceInStat(" 94420770750464 ", " 94420770754560 ");
  EXPECT_EQ(Check(target, host_), Change::kExecuted);
}

TEST_F(FixtureTargetTest, AStatLineThatCannotBeReadIsAnError) {
  const Target target = OpenTarget(200, host_);
  std::ofstream(root_ + "/200/stat") << "nonsense";
  EXPECT_FALSE(target.Check(host_).ok());
}

TEST(ExecutionMarksTest, WhatIsNotShownIsNoEvidence) {
  ExecutionMarks seen;
  seen.start_code = 1000;
  seen.end_code = 2000;
  seen.start_stack = 3000;
  seen.auxiliary_vector = "abc";
  seen.exe_inode = 7;
  EXPECT_FALSE(ShowExec(seen, ExecutionMarks()));
  EXPECT_FALSE(ShowExec(ExecutionMarks(), seen));
  EXPECT_FALSE(ShowExec(seen, seen));
  ExecutionMarks other = seen;
  other.auxiliary_vector = "abd";
  EXPECT_TRUE(ShowExec(seen, other));
  other = seen;
  other.exe_device_minor = 1;
  EXPECT_TRUE(ShowExec(seen, other));
  other = seen;
  other.forked_without_exec = true;
  EXPECT_TRUE(ShowExec(other, seen));
  EXPECT_FALSE(ShowExec(seen, other));
}

}  // namespace
}  // namespace mempulse
