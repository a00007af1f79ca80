#include "collectors/targets/process_facts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <thread>

namespace mempulse {
namespace {

const Host& Fixture() {
  static const Host host(MEMPULSE_SOURCE_DIR "/tests/fixtures/proc");
  return host;
}

TEST(ReadProcessFactsTest, ReadsEveryFact) {
  const absl::StatusOr<ProcessFacts> facts = ReadProcessFacts(Fixture(), 200);
  ASSERT_TRUE(facts.ok()) << facts.status();
  EXPECT_EQ(facts->id, (ProcessId{200, 3000}));
  EXPECT_EQ(facts->parent, 1);
  EXPECT_EQ(facts->comm, "redis-server");
  EXPECT_EQ(facts->exe, "/usr/bin/redis-check-rdb");
  EXPECT_THAT(facts->command_line, testing::ElementsAre("/usr/bin/redis-server 127.0.0.1:6379"));
  EXPECT_EQ(facts->cgroup, "/kubepods/burstable/pod12/abc");
  EXPECT_EQ(facts->uid, 1001u);
  EXPECT_EQ(facts->gid, 1002u);
  EXPECT_EQ(facts->state, 'S');
  EXPECT_FALSE(facts->kernel_thread);
}

TEST(ReadProcessFactsTest, ReadsOddNamesAndArguments) {
  const absl::StatusOr<ProcessFacts> facts = ReadProcessFacts(Fixture(), 400);
  ASSERT_TRUE(facts.ok()) << facts.status();
  EXPECT_EQ(facts->comm, "a) R (b\nc 7");
  EXPECT_EQ(facts->exe, "/opt/odd name");
  EXPECT_THAT(facts->command_line, testing::ElementsAre("/opt/odd name", "--x=1", "", "z y"));
  EXPECT_EQ(facts->cgroup, "/user.slice/a:b");
}

TEST(ReadProcessFactsTest, LeavesOutThePaddingOfARewrittenTitle) {
  EXPECT_THAT(ReadProcessFacts(Fixture(), 101)->command_line, testing::ElementsAre("nginx: worker process"));
}

TEST(ReadProcessFactsTest, KernelThreadsAndZombiesHaveNoExecutable) {
  EXPECT_TRUE(ReadProcessFacts(Fixture(), 2)->kernel_thread);
  const absl::StatusOr<ProcessFacts> zombie = ReadProcessFacts(Fixture(), 300);
  ASSERT_TRUE(zombie.ok()) << zombie.status();
  EXPECT_EQ(zombie->state, 'Z');
  EXPECT_TRUE(zombie->exe.empty() && zombie->command_line.empty());
}

TEST(ReadProcessFactsTest, AbsentProcessIsNotFound) {
  EXPECT_TRUE(absl::IsNotFound(ReadProcessFacts(Fixture(), 999).status()));
}

TEST(ReadProcessFactsTest, RefusesAThread) {
  pid_t thread_id = 0;
  absl::Status status;
  std::thread([&] {
    thread_id = gettid();
    status = ReadProcessFacts(Host(), thread_id).status();
  }).join();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()), testing::HasSubstr("is a thread of process"));
}

TEST(ReadProcessFactsTest, ReadsThisProcess) {
  const absl::StatusOr<ProcessFacts> facts = ReadProcessFacts(Host(), getpid());
  ASSERT_TRUE(facts.ok()) << facts.status();
  EXPECT_EQ(facts->exe, std::filesystem::read_symlink("/proc/self/exe").string());
  EXPECT_EQ(facts->uid, geteuid());
  EXPECT_FALSE(facts->command_line.empty());
}

TEST(ParseCgroupTest, PrefersTheHierarchyThatLimitsMemory) {
  EXPECT_EQ(ParseCgroup("0::/user.slice/x\n"), "/user.slice/x");
  EXPECT_EQ(ParseCgroup("9:cpu,cpuacct:/c\n4:memory:/m:1\n1:name=systemd:/s\n0::/u\n"), "/m:1");
  EXPECT_EQ(ParseCgroup("4:cpu,memory:/both\n"), "/both");
  EXPECT_EQ(ParseCgroup("1:name=memory:/named\n0::/u\n"), "/u");
  EXPECT_EQ(ParseCgroup(""), "");
  EXPECT_EQ(ParseCgroup("garbage\n:::\n"), "");
}

}  // namespace
}  // namespace mempulse
