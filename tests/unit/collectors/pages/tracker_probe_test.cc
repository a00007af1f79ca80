#include "collectors/pages/tracker_probe.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <functional>
#include <initializer_list>
#include <memory>
#include <string>

#include "collectors/host/capabilities.h"
#include "collectors/pages/softdirty_tracker.h"
#include "collectors/pages/tracker_access.h"

namespace mempulse {
namespace {

constexpr uint32_t kTargetUser = 61234;
constexpr uint32_t kOtherUser = 61235;

bool SetCapabilities(const CapabilitySet& set) {
  __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
  const auto low = static_cast<uint32_t>(set.bits());
  const auto high = static_cast<uint32_t>(set.bits() >> 32);
  __user_cap_data_struct data[2] = {{low, low, 0}, {high, high, 0}};
  return syscall(SYS_capset, &header, data) == 0;
}

// Turns the calling process into `uid` with exactly these capabilities.
bool Become(uint32_t uid, std::initializer_list<Capability> capabilities, bool dumpable) {
  if (prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0) != 0) return false;
  if (setresgid(uid, uid, uid) != 0 || setresuid(uid, uid, uid) != 0) return false;
  return SetCapabilities(CapabilitySet::Of(capabilities)) &&
         prctl(PR_SET_DUMPABLE, dumpable ? 1 : 0, 0, 0, 0) == 0;
}

// A seccomp filter that allows everything: from outside it looks like any other.
bool InstallFilter() {
  sock_filter allow = {BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW};
  const sock_fprog program = {1, &allow};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

// A process that waits to be killed, as kTargetUser.
class WaitingTarget {
 public:
  explicit WaitingTarget(bool dumpable, bool filtered = false) {
    int ready[2];
    EXPECT_EQ(pipe(ready), 0);
    pid_ = fork();
    if (pid_ == 0) {
      const char became = Become(kTargetUser, {}, dumpable) && (!filtered || InstallFilter()) ? 1 : 0;
      static_cast<void>(!write(ready[1], &became, 1));
      for (;;) pause();
    }
    char became = 0;
    EXPECT_EQ(read(ready[0], &became, 1), 1);
    EXPECT_EQ(became, 1);
    close(ready[0]);
    close(ready[1]);
  }
  ~WaitingTarget() {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  WaitingTarget(const WaitingTarget&) = delete;
  WaitingTarget& operator=(const WaitingTarget&) = delete;
  pid_t pid() const { return pid_; }

 private:
  pid_t pid_ = -1;
};

absl::StatusOr<Target> OpenTarget(const Host& host, pid_t pid) {
  absl::StatusOr<ProcessFacts> facts = ReadProcessFacts(host, pid);
  if (!facts.ok()) return facts.status();
  return Target::Open(host, *facts);
}

// What `report` says in a process of its own with another identity.
std::string ReportAs(uint32_t uid, std::initializer_list<Capability> capabilities,
                     const std::function<std::string()>& report) {
  int channel[2];
  EXPECT_EQ(pipe(channel), 0);
  const pid_t child = fork();
  if (child == 0) {
    const std::string text = Become(uid, capabilities, true) ? report() : "could not become the user";
    static_cast<void>(!write(channel[1], text.data(), text.size()));
    _exit(0);
  }
  close(channel[1]);
  std::string text(4096, '\0');
  const ssize_t got = read(channel[0], text.data(), text.size());
  close(channel[0]);
  waitpid(child, nullptr, 0);
  text.resize(got > 0 ? static_cast<size_t>(got) : 0);
  return text;
}

std::string AccessText(pid_t pid) {
  const Host host;
  const absl::StatusOr<Target> target = OpenTarget(host, pid);
  if (!target.ok()) return target.status().ToString();
  const absl::StatusOr<TargetAccess> access = ReadTargetAccess(host, *target);
  if (!access.ok()) return access.status().ToString();
  const auto yes = [](int error) { return error == 0 ? "yes" : strerrorname_np(error); };
  return std::string("maps ") + yes(access->errors.maps) + " pagemap " + yes(access->errors.pagemap) +
         " mem " + yes(access->errors.mem) + " clear_refs " + yes(access->errors.clear_refs) + " attach " +
         yes(access->errors.attach);
}

std::string ReasonText(pid_t pid) {
  const Host host;
  const absl::StatusOr<Target> target = OpenTarget(host, pid);
  if (!target.ok()) return target.status().ToString();
  std::vector<TrackerSupport> own;
  own.reserve(std::size(kAllTrackerKinds));
  for (const TrackerKind kind : kAllTrackerKinds) own.push_back({kind, true, "ok", "", ""});
  std::string text;
  for (const TrackerSupport& support : ProbeTarget(host, *target, own, true)) text += support.reason + " ";
  return text;
}

class AccessTableTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (geteuid() != 0) GTEST_SKIP() << "changing users needs root";
  }
};

TEST_F(AccessTableTest, TheKernelAnswersAsTheTableSays) {
  const WaitingTarget target(true);
  const auto access = [&] { return AccessText(target.pid()); };
  using C = Capability;
  EXPECT_EQ(ReportAs(kTargetUser, {}, access), "maps yes pagemap yes mem yes clear_refs yes attach yes");
  EXPECT_EQ(ReportAs(kOtherUser, {}, access),
            "maps EACCES pagemap EACCES mem EACCES clear_refs EACCES attach EPERM");
  EXPECT_EQ(ReportAs(kOtherUser, {C::kSysPtrace}, access),
            "maps yes pagemap EACCES mem EACCES clear_refs EACCES attach yes");
  EXPECT_EQ(ReportAs(kOtherUser, {C::kSysPtrace, C::kDacReadSearch}, access),
            "maps yes pagemap yes mem yes clear_refs EACCES attach yes");
  EXPECT_EQ(ReportAs(kOtherUser, {C::kSysPtrace, C::kDacOverride}, access),
            "maps yes pagemap yes mem yes clear_refs yes attach yes");
}

TEST_F(AccessTableTest, ReasonsOnLiveProcesses) {
  const WaitingTarget target(true);
  const WaitingTarget closed(false);
  const auto reasons = [&] { return ReasonText(target.pid()); };
  const auto closed_reasons = [&] { return ReasonText(closed.pid()); };
  using C = Capability;
  EXPECT_EQ(ReportAs(kTargetUser, {}, reasons), "ok ok ok ");
  EXPECT_EQ(ReportAs(kOtherUser, {}, reasons), "other_user other_user other_user ");
  EXPECT_EQ(ReportAs(kOtherUser, {C::kSysPtrace}, reasons), "capability capability capability ");
  EXPECT_EQ(ReportAs(kOtherUser, {C::kSysPtrace, C::kDacReadSearch}, reasons), "ok capability ok ");
  EXPECT_EQ(ReportAs(kTargetUser, {}, closed_reasons), "not_dumpable not_dumpable not_dumpable ");
}

TEST_F(AccessTableTest, AFilteredTargetIsNotAttachedToButTracked) {
  const WaitingTarget target(true, true);
  const auto reasons = [&] { return ReasonText(target.pid()); };
  EXPECT_EQ(ReportAs(kTargetUser, {}, reasons), "seccomp ok ok ");
}

TEST(ProbeTrackersTest, EveryMechanismIsDecidedInTheOrderOfPreference) {
  const Host host;
  const std::vector<TrackerSupport> own = ProbeTrackers(host);
  ASSERT_EQ(own.size(), kAllTrackerKinds.size());
  for (size_t i = 0; i < own.size(); ++i) {
    EXPECT_EQ(own[i].kind, kAllTrackerKinds[i]);
    EXPECT_EQ(own[i].supported, own[i].reason == "ok");
    if (!own[i].supported) {
      EXPECT_NE(own[i].detail, "");
    }
  }
  EXPECT_TRUE(own[2].supported) << own[2].detail;  // hashing needs nothing but /proc
}

TEST(OpenTrackerTest, OneChoiceGivesOneTrackerAndAllReasons) {
  const Host host;
  const absl::StatusOr<Target> target = OpenTarget(host, getpid());
  ASSERT_TRUE(target.ok()) << target.status();
  const std::vector<TrackerSupport> own = ProbeTrackers(host);
  const absl::StatusOr<ChosenTracker> chosen =
      OpenTracker(host, *target, own, TrackerChoice::kHashDiff, false);
  ASSERT_TRUE(chosen.ok()) << chosen.status();
  ASSERT_NE(chosen->tracker, nullptr);
  EXPECT_EQ(chosen->tracker->kind(), TrackerKind::kHashDiff);
  EXPECT_EQ(chosen->support.size(), 3u);
  EXPECT_FALSE(chosen->support[0].supported);
}

TEST(OpenTrackerTest, OneSoftDirtyTrackerAProcess) {
  const Host host;
  const absl::StatusOr<Target> target = OpenTarget(host, getpid());
  ASSERT_TRUE(target.ok()) << target.status();
  {
    const absl::StatusOr<std::unique_ptr<PageTracker>> first = OpenSoftDirtyTracker(host, *target);
    if (!first.ok()) GTEST_SKIP() << "clear_refs of our own cannot be opened: " << first.status();
    const absl::Status second = OpenSoftDirtyTracker(host, *target).status();
    EXPECT_TRUE(absl::IsUnavailable(second)) << second;
    EXPECT_THAT(std::string(second.message()), ::testing::StartsWith("foreign_tracker: "));
    EXPECT_TRUE(ReadTargetAccess(host, *target)->foreign_soft_dirty);
  }
  EXPECT_FALSE(ReadTargetAccess(host, *target)->foreign_soft_dirty);
  EXPECT_TRUE(OpenSoftDirtyTracker(host, *target).ok());
}

TEST(OpenTrackerTest, WithoutAMechanismThereIsNoTracker) {
  const Host host;
  const absl::StatusOr<Target> target = OpenTarget(host, getpid());
  ASSERT_TRUE(target.ok()) << target.status();
  const absl::StatusOr<ChosenTracker> chosen = OpenTracker(host, *target, {}, TrackerChoice::kAuto, true);
  ASSERT_TRUE(chosen.ok()) << chosen.status();
  EXPECT_EQ(chosen->tracker, nullptr);
  EXPECT_EQ(chosen->support.size(), 3u);
}

TEST(OpenTrackerTest, AnExitedTargetIsNotFound) {
  const Host host;
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    for (;;) pause();
  }
  const absl::StatusOr<Target> target = OpenTarget(host, child);
  ASSERT_TRUE(target.ok()) << target.status();
  kill(child, SIGKILL);
  ASSERT_EQ(waitpid(child, nullptr, 0), child);
  EXPECT_TRUE(
      absl::IsNotFound(OpenTracker(host, *target, ProbeTrackers(host), TrackerChoice::kAuto, true).status()));
}

}  // namespace
}  // namespace mempulse
