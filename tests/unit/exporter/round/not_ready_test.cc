#include "exporter/round/not_ready.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace mempulse {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

ProcessReport Refused(pid_t pid, const std::string& comm, std::vector<TrackerSupport> support) {
  ProcessReport report;
  report.id.pid = pid;
  report.comm = comm;
  report.tracker = "none";
  report.support = std::move(support);
  return report;
}

TrackerSupport Yama() {
  return {TrackerKind::kHashDiff, false, "yama", "opening mem of the target: EACCES", "add CAP_SYS_PTRACE"};
}

TEST(NotReadyTest, NothingRefusedIsReady) {
  EXPECT_EQ(DescribeNotReady({}), "");
  GroupReport empty;
  empty.name = "shop";
  EXPECT_EQ(DescribeNotReady({empty}), "");
}

TEST(NotReadyTest, OneProcess) {
  GroupReport group;
  group.name = "shop";
  group.processes = {Refused(7, "server", {Yama()})};
  EXPECT_EQ(
      DescribeNotReady({group}),
      "no page tracker works on the one process that was found\n"
      "shop: hashdiff does not work on 1 process (yama), e.g. server (pid 7): opening mem of the target: "
      "EACCES. Remedy: add CAP_SYS_PTRACE");
}

TEST(NotReadyTest, ProcessesAreCountedByMechanismAndReason) {
  const TrackerSupport kernel = {TrackerKind::kWriteProtect, false, "kernel", "too old", ""};
  const TrackerSupport user = {TrackerKind::kHashDiff, false, "other_user", "uid 2", "run it as uid 2"};
  GroupReport shop;
  shop.name = "shop";
  shop.processes = {Refused(7, "server", {kernel, Yama()}), Refused(8, "server", {kernel, Yama()}),
                    Refused(9, "worker", {kernel, user})};
  GroupReport bank;
  bank.name = "bank";
  bank.processes = {Refused(10, "teller", {Yama()})};
  const std::string text = DescribeNotReady({shop, bank});
  EXPECT_THAT(text, HasSubstr("any of the 4 processes that were found\n"));
  EXPECT_THAT(
      text,
      HasSubstr("shop: writeprotect does not work on 3 processes (kernel), e.g. server (pid 7): too old"));
  EXPECT_THAT(text, HasSubstr("shop: hashdiff does not work on 2 processes (yama), e.g. server (pid 7)"));
  EXPECT_THAT(text,
              HasSubstr("shop: hashdiff does not work on 1 process (other_user), e.g. worker (pid 9): uid 2. "
                        "Remedy: run it as uid 2"));
  EXPECT_THAT(text, HasSubstr("bank: hashdiff does not work on 1 process (yama), e.g. teller (pid 10)"));
}

TEST(NotReadyTest, NamesOfProcessesAreEscaped) {
  GroupReport group;
  group.name = "shop";
  group.processes = {Refused(7, "a\nb\xff", {Yama()})};
  EXPECT_THAT(DescribeNotReady({group}), HasSubstr("a\\nb\\xff (pid 7)"));
  EXPECT_THAT(DescribeNotReady({group}), Not(HasSubstr("\xff")));
}

}  // namespace
}  // namespace mempulse
