#include "collectors/targets/target_finder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "absl/strings/str_cat.h"
#include "tests/unit/collectors/targets/child_process.h"

namespace mempulse {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const Host& Fixture() {
  static const Host host(MEMPULSE_SOURCE_DIR "/tests/fixtures/proc");
  return host;
}

TargetGroupOptions Group(absl::string_view name = "group") {
  TargetGroupOptions group;
  group.name = std::string(name);
  return group;
}

std::vector<pid_t> Pids(const FoundGroup& group) {
  std::vector<pid_t> pids;
  for (const ProcessFacts& facts : group.processes) pids.push_back(facts.id.pid);
  return pids;
}

std::vector<FoundGroup> FindAll(std::vector<TargetGroupOptions> groups, const Host& host = Fixture()) {
  const absl::StatusOr<std::unique_ptr<TargetFinder>> finder = TargetFinder::Create(host, std::move(groups));
  EXPECT_TRUE(finder.ok()) << finder.status();
  absl::StatusOr<std::vector<FoundGroup>> found = (*finder)->Find();
  EXPECT_TRUE(found.ok()) << found.status();
  return *std::move(found);
}

std::vector<pid_t> FindOne(const TargetGroupOptions& group) { return Pids(FindAll({group}).front()); }

TEST(TargetFinderTest, SelectsByPid) {
  TargetGroupOptions group = Group();
  group.pids = {200, 100, 7777};
  const FoundGroup found = FindAll({group}).front();
  EXPECT_EQ(found.name, "group");
  EXPECT_EQ(found.matched, 2);
  EXPECT_THAT(Pids(found), ElementsAre(100, 200));
  EXPECT_THAT(found.problems, ElementsAre("process 7777 does not run"));
  EXPECT_EQ(found.processes[1].comm, "redis-server");
}

TEST(TargetFinderTest, SelectsByExactComm) {
  TargetGroupOptions group = Group();
  group.comms = {"redis", "nginx", "a) R (b\nc 7"};
  EXPECT_THAT(FindOne(group), ElementsAre(100, 101, 102, 103, 400));
}

TEST(TargetFinderTest, SelectsByExecutable) {
  TargetGroupOptions group = Group();
  group.exes = {"/usr/bin/redis-check-rdb", "/opt/odd name"};
  EXPECT_THAT(FindOne(group), ElementsAre(200, 400));
}

TEST(TargetFinderTest, SearchesTheJoinedCommandLine) {
  TargetGroupOptions group = Group();
  group.command_lines = {"-m app\\.(server|nothing)( |$)", "^nginx: master"};
  EXPECT_THAT(FindOne(group), ElementsAre(100, 500));
}

TEST(TargetFinderTest, SelectsByCgroupGlob) {
  TargetGroupOptions group = Group();
  group.cgroups = {"/kubepods/*/pod*/*"};
  EXPECT_THAT(FindOne(group), ElementsAre(200, 500, 501));
  group.cgroups = {"/kubepods/*"};
  EXPECT_THAT(FindOne(group), IsEmpty());
  group.cgroups = {"/kubepods/**/def"};
  EXPECT_THAT(FindOne(group), ElementsAre(500, 501));
}

TEST(TargetFinderTest, EverySelectorThatIsGivenMustMatch) {
  TargetGroupOptions group = Group();
  group.comms = {"python3", "nginx"};
  group.command_lines = {"worker"};
  EXPECT_THAT(FindOne(group), ElementsAre(101, 102, 103, 501));
  group.cgroups = {"/kubepods/**"};
  EXPECT_THAT(FindOne(group), ElementsAre(501));
  group.pids = {500};
  EXPECT_THAT(FindOne(group), IsEmpty());
}

TEST(TargetFinderTest, AGroupWithoutSelectorsMatchesNothing) { EXPECT_THAT(FindOne(Group()), IsEmpty()); }

TEST(TargetFinderTest, NeverSelectsItselfKernelThreadsOrZombies) {
  TargetGroupOptions group = Group();
  group.max_processes = 100;
  group.command_lines = {""};
  EXPECT_THAT(FindOne(group), ElementsAre(1, 100, 101, 102, 103, 104, 200, 400, 500, 501));
  TargetGroupOptions by_pid = Group();
  by_pid.pids = {2, 300, 600};
  EXPECT_THAT(FindOne(by_pid), IsEmpty());
}

TEST(TargetFinderTest, FollowsChildrenThroughAllGenerations) {
  TargetGroupOptions group = Group();
  group.command_lines = {"^nginx: master"};
  EXPECT_THAT(FindOne(group), ElementsAre(100));
  group.children = true;
  EXPECT_THAT(FindOne(group), ElementsAre(100, 101, 102, 103, 104));
  group.exclude.pids = {100, 103};
  EXPECT_THAT(FindOne(group), ElementsAre(101, 102, 104));
}

TEST(TargetFinderTest, ExcludesWhatAnyListNames) {
  TargetGroupOptions group = Group();
  group.max_processes = 100;
  group.command_lines = {""};
  group.exclude.pids = {1};
  group.exclude.comms = {"nginx"};
  group.exclude.exes = {"/opt/odd name"};
  group.exclude.command_lines = {"app.worker"};
  group.exclude.cgroups = {"/kubepods/burstable/**"};
  EXPECT_THAT(FindOne(group), ElementsAre(104, 500));
}

TEST(TargetFinderTest, TheFirstGroupThatSelectsAProcessHasIt) {
  TargetGroupOptions workers = Group("workers");
  workers.command_lines = {"nginx: worker"};
  workers.exclude.pids = {103};
  TargetGroupOptions all = Group("all");
  all.pids = {100};
  all.children = true;
  const std::vector<FoundGroup> found = FindAll({workers, all});
  EXPECT_THAT(Pids(found[0]), ElementsAre(101, 102));
  EXPECT_THAT(Pids(found[1]), ElementsAre(100, 103, 104));
}

TEST(TargetFinderTest, RotatesThroughAllProcessesOfALargeGroup) {
  TargetGroupOptions group = Group();
  group.pids = {100, 101, 102, 103, 104};
  group.max_processes = 2;
  const std::unique_ptr<TargetFinder> finder = *TargetFinder::Create(Fixture(), {group});
  const auto next = [&finder] {
    const FoundGroup found = finder->Find()->front();
    EXPECT_EQ(found.matched, 5);
    return Pids(found);
  };
  EXPECT_THAT(next(), ElementsAre(100, 101));
  EXPECT_THAT(next(), ElementsAre(102, 103));
  EXPECT_THAT(next(), ElementsAre(104, 100));
  EXPECT_THAT(next(), ElementsAre(101, 102));
}

TEST(TargetFinderTest, ExpressionsThatDoNotCompileNameTheirGroup) {
  TargetGroupOptions bad_pattern = Group("web");
  bad_pattern.command_lines = {"a(b"};
  const absl::Status pattern = TargetFinder::Create(Fixture(), {bad_pattern}).status();
  EXPECT_EQ(pattern.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(pattern.message()),
              HasSubstr("target group \"web\": regular expression \"a(b\": "));
  TargetGroupOptions bad_glob = Group("db");
  bad_glob.exclude.cgroups = {"/x[1"};
  EXPECT_EQ(TargetFinder::Create(Fixture(), {bad_glob}).status().message(),
            "target group \"db\": glob \"/x[1\" has an open [");
}

TEST(TargetFinderTest, ProcfsThatIsNotThereIsAnError) {
  const Host host("/nonexistent/proc");
  EXPECT_FALSE((*TargetFinder::Create(host, {Group()}))->Find().ok());
}

class PidFileSelectionTest : public testing::Test {
 protected:
  std::string Write(absl::string_view name, absl::string_view text) {
    const std::string path = absl::StrCat(testing::TempDir(), "mempulse_", name);
    std::ofstream(path) << text;
    std::filesystem::permissions(path, std::filesystem::perms(0644));
    return path;
  }
};

TEST_F(PidFileSelectionTest, SelectsAndReportsProblems) {
  TargetGroupOptions group = Group();
  group.pid_files = {Write("good.pid", "200\n"), Write("stale.pid", "7777\n"), Write("bad.pid", "2 0 0"),
                     "/nonexistent.pid"};
  const FoundGroup found = FindAll({group}).front();
  EXPECT_THAT(Pids(found), ElementsAre(200));
  EXPECT_THAT(found.problems, ElementsAre(HasSubstr("stale.pid names process 7777, which does not run"),
                                          HasSubstr("bad.pid holds no process number"),
                                          HasSubstr("/nonexistent.pid: No such file")));
}

TEST_F(PidFileSelectionTest, OnlyBrokenPidFilesSelectNothing) {
  TargetGroupOptions group = Group();
  group.pid_files = {"/nonexistent.pid"};
  group.comms = {"nginx"};
  EXPECT_THAT(FindOne(group), IsEmpty());
}

TEST(TargetFinderRealTest, FindsAChildAndItsChildrenButNotTheTest) {
  const ChildProcess child({"/bin/sh", "-c", "/bin/cat; true"});
  child.WriteLine("x");
  child.ReadLine();
  TargetGroupOptions group = Group();
  group.pids = {child.pid(), getpid()};
  group.children = true;
  const Host host;
  const FoundGroup found = FindAll({group}, host).front();
  ASSERT_EQ(found.matched, 2);
  EXPECT_EQ(found.processes[0].id.pid, child.pid());
  EXPECT_EQ(found.processes[1].comm, "cat");
  EXPECT_EQ(found.processes[1].parent, child.pid());
}

}  // namespace
}  // namespace mempulse
