#include "collectors/pages/tracker_decision.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/unit/collectors/pages/access_situations.h"

namespace mempulse {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TrackerSupport Own(TrackerKind kind) { return {kind, true, "ok", "", ""}; }

TrackerSupport Decide(TrackerKind kind, const TargetAccess& access) {
  return DecideSupport(Own(kind), access, /*attach_allowed=*/true);
}

// "writeprotect softdirty hashdiff" as reasons.
std::string Reasons(const TargetAccess& access) {
  std::string text;
  for (const TrackerKind kind : kAllTrackerKinds) {
    const TrackerSupport support = Decide(kind, access);
    EXPECT_EQ(support.supported, support.reason == "ok") << support.reason;
    if (!support.supported) {
      EXPECT_NE(support.detail, "") << support.reason;
      EXPECT_NE(support.remedy, "") << support.reason;
    }
    text += (text.empty() ? "" : " ") + support.reason;
  }
  return text;
}

TEST(TrackerDecisionTest, AccessTable) {
  EXPECT_EQ(Reasons(SameUserNoCapabilities()), "ok ok ok");
  EXPECT_EQ(Reasons(OtherUserNoCapabilities()), "other_user other_user other_user");
  EXPECT_EQ(Reasons(OtherUserTraceOnly()), "capability capability capability");
  EXPECT_EQ(Reasons(OtherUserTraceAndRead()), "ok capability ok");
  EXPECT_EQ(Reasons(OtherUserTraceAndOverride()), "ok ok ok");
  EXPECT_EQ(Reasons(OtherUserAdmin()), "ok ok ok");
  EXPECT_EQ(Reasons(NotDumpable()), "not_dumpable not_dumpable not_dumpable");
}

TEST(TrackerDecisionTest, RemediesNameTheMissingCapability) {
  EXPECT_THAT(ExplainRefusal(AccessPoint::kPagemap, OtherUserTraceOnly()).remedy,
              HasSubstr("add CAP_DAC_READ_SEARCH"));
  EXPECT_THAT(ExplainRefusal(AccessPoint::kClearRefs, OtherUserTraceAndRead()).remedy,
              HasSubstr("add CAP_DAC_OVERRIDE"));
  EXPECT_THAT(ExplainRefusal(AccessPoint::kMem, OtherUserNoCapabilities()).remedy,
              HasSubstr("uid 999 and gid 999, or add CAP_SYS_PTRACE and CAP_DAC_READ_SEARCH"));
  EXPECT_THAT(ExplainRefusal(AccessPoint::kMaps, OtherUserNoCapabilities()).remedy,
              HasSubstr("add CAP_SYS_PTRACE to it"));
  EXPECT_THAT(ExplainRefusal(AccessPoint::kPagemap, NotDumpable()).remedy,
              HasSubstr("CAP_SYS_PTRACE and CAP_DAC_READ_SEARCH"));
}

TEST(TrackerDecisionTest, YamaRefusesOnlyWhatAttaches) {
  EXPECT_EQ(Reasons(Yama(0)), "ok ok ok");
  EXPECT_EQ(Reasons(Yama(1)), "yama ok yama");
  EXPECT_EQ(Reasons(Yama(2)), "yama ok yama");
  EXPECT_EQ(Reasons(Yama(3)), "yama ok yama");
  EXPECT_EQ(Reasons(RootUnderYama(0)), "ok ok ok");
  EXPECT_EQ(Reasons(RootUnderYama(1)), "ok ok ok");
  EXPECT_EQ(Reasons(RootUnderYama(2)), "ok ok ok");
  EXPECT_EQ(Reasons(RootUnderYama(3)), "yama ok yama");
}

TEST(TrackerDecisionTest, YamaRemediesDifferByScope) {
  EXPECT_THAT(Decide(TrackerKind::kHashDiff, Yama(1)).remedy, HasSubstr("ptrace_scope to 0,"));
  EXPECT_THAT(Decide(TrackerKind::kHashDiff, Yama(2)).remedy, HasSubstr("ptrace_scope to 0,"));
  TargetAccess child = Yama(2);
  child.is_descendant = true;
  EXPECT_THAT(Decide(TrackerKind::kHashDiff, child).remedy, HasSubstr("ptrace_scope to 0 or 1,"));
  // The helper that attaches is a sibling of our children.
  EXPECT_THAT(Decide(TrackerKind::kWriteProtect, child).remedy, HasSubstr("ptrace_scope to 0,"));
  child = Yama(1);
  child.is_descendant = true;
  child.errors = {.attach = EPERM};
  EXPECT_EQ(Reasons(child), "yama ok ok");
  EXPECT_THAT(Decide(TrackerKind::kHashDiff, Yama(3)).remedy, Not(HasSubstr("CAP_SYS_PTRACE")));
}

TEST(TrackerDecisionTest, SeccompOfTheTargetRefusesTheInjectionOnly) {
  EXPECT_EQ(Reasons(DefaultSeccomp()), "seccomp ok ok");
  // Root with SYS_ADMIN and no filter of its own may suspend the target's.
  TargetAccess root = RootUnderYama(0);
  root.target.seccomp_mode = 2;
  EXPECT_EQ(Reasons(root), "ok ok ok");
  root.own.seccomp_mode = 2;
  EXPECT_EQ(Reasons(root), "seccomp ok ok");
  EXPECT_THAT(Decide(TrackerKind::kWriteProtect, root).remedy,
              HasSubstr("without a seccomp filter of its own"));
}

TEST(TrackerDecisionTest, OwnFilterThatDeniesUserfaultfdSaysNothingOfTheTarget) {
  const TrackerSupport own = {TrackerKind::kWriteProtect, false, "seccomp", "userfaultfd: EPERM", "..."};
  EXPECT_TRUE(DecideSupport(own, SameUserNoCapabilities(), true).supported);
  EXPECT_EQ(DecideSupport(own, DefaultSeccomp(), true).reason, "seccomp");
}

TEST(TrackerDecisionTest, AKernelWithoutTheMechanismComesFirst) {
  const TrackerSupport own = {TrackerKind::kWriteProtect, false, "kernel", "ENOTTY", "newer"};
  const TrackerSupport decided = DecideSupport(own, NotDumpable(), false);
  EXPECT_EQ(decided.reason, "kernel");
  EXPECT_EQ(decided.detail, "ENOTTY");
}

TEST(TrackerDecisionTest, WhatHindersAnAttach) {
  TargetAccess access = SameUserNoCapabilities();
  EXPECT_EQ(DecideSupport(Own(TrackerKind::kWriteProtect), access, false).reason, "not_allowed");
  EXPECT_TRUE(DecideSupport(Own(TrackerKind::kSoftDirty), access, false).supported);
  access.target.tracer = 4711;
  EXPECT_EQ(Reasons(access), "foreign_tracker ok ok");
  access = SameUserNoCapabilities();
  access.foreign_write_protection = true;
  EXPECT_EQ(Reasons(access), "foreign_tracker ok ok");
  access = SameUserNoCapabilities();
  access.foreign_soft_dirty = true;
  EXPECT_EQ(Reasons(access), "ok foreign_tracker ok");
  access.yama_scope = 1;
  access.errors = {.mem = EACCES, .attach = EPERM};
  EXPECT_THAT(Decide(TrackerKind::kHashDiff, access).remedy, Not(HasSubstr("softdirty")));
  access = SameUserNoCapabilities();
  access.is_32_bit = true;
  EXPECT_EQ(Decide(TrackerKind::kWriteProtect, access).reason, "architecture");
}

TEST(TrackerDecisionTest, ATargetWithMoreCapabilitiesThanWe) {
  TargetAccess access = SameUserNoCapabilities();
  access.target.permitted = CapabilitySet::Of({Capability::kSysAdmin});
  access.errors = {EACCES, EACCES, EACCES, EACCES, 0, EPERM};
  EXPECT_EQ(Reasons(access), "capability capability capability");
  EXPECT_THAT(ExplainRefusal(AccessPoint::kPagemap, access).detail, HasSubstr("CAP_SYS_ADMIN"));
}

TEST(TrackerDecisionTest, AnotherUserNamespaceAndSecurityModules) {
  TargetAccess access = OtherUserAdmin();
  access.other_user_namespace = true;
  access.initial_user_namespace = false;
  access.errors = {.pagemap = EACCES};
  EXPECT_THAT(ExplainRefusal(AccessPoint::kPagemap, access).detail, HasSubstr("do not reach"));
  access = OtherUserNoCapabilities();
  access.other_user_namespace = true;
  EXPECT_EQ(Reasons(access), "capability capability capability");
  EXPECT_THAT(Decide(TrackerKind::kSoftDirty, access).remedy,
              "add CAP_SYS_PTRACE and CAP_DAC_OVERRIDE to the exporter");
  access = SameUserNoCapabilities();
  access.errors = {.mem = EACCES};
  EXPECT_EQ(ExplainRefusal(AccessPoint::kMem, access).reason, "error");
  EXPECT_THAT(ExplainRefusal(AccessPoint::kMem, access).remedy, HasSubstr("security module"));
}

TEST(TrackerDecisionTest, ARemedyTakesEverythingAwayThatIsInTheWay) {
  const TargetAccess other = OtherUserNoCapabilities();
  EXPECT_THAT(Decide(TrackerKind::kSoftDirty, other).remedy,
              HasSubstr("CAP_SYS_PTRACE and CAP_DAC_OVERRIDE"));
  EXPECT_THAT(Decide(TrackerKind::kHashDiff, other).remedy,
              HasSubstr("CAP_SYS_PTRACE and CAP_DAC_READ_SEARCH"));
  TargetAccess access = other;
  access.target.seccomp_mode = 2;
  const TrackerSupport support = Decide(TrackerKind::kWriteProtect, access);
  EXPECT_EQ(support.reason, "seccomp");
  EXPECT_THAT(support.remedy, HasSubstr("; and run the exporter as uid 999 and gid 999, or add"));
  EXPECT_THAT(support.remedy, Not(HasSubstr("softdirty"))) << "it is refused as well";
  access = other;
  access.yama_scope = 1;
  EXPECT_THAT(Decide(TrackerKind::kHashDiff, access).remedy,
              HasSubstr("gid 999 and set kernel.yama.ptrace_scope to 0, or add"));
  access = other;
  access.not_dumpable = true;
  EXPECT_THAT(Decide(TrackerKind::kHashDiff, access).remedy, Not(HasSubstr("run the exporter as")));
}

TEST(TrackerDecisionTest, AnotherGroupIsNamed) {
  TargetAccess access = OtherUserNoCapabilities();
  access.own.uids = access.target.uids;
  EXPECT_THAT(ExplainRefusal(AccessPoint::kMaps, access).detail,
              HasSubstr("runs as uid 999 with gid 999, the exporter as uid 999 with gid 65534"));
}

TEST(TrackerDecisionTest, AFilterOfOurOwnThatDeniesTheCall) {
  TargetAccess access = SameUserNoCapabilities();
  access.own.seccomp_mode = 2;
  access.own_filter_denies_pidfd_getfd = true;
  access.errors = {.attach = EPERM};
  EXPECT_EQ(Reasons(access), "seccomp ok ok");
  EXPECT_THAT(Decide(TrackerKind::kWriteProtect, access).detail, HasSubstr("refuses pidfd_getfd"));
  EXPECT_THAT(Decide(TrackerKind::kWriteProtect, access).remedy,
              HasSubstr("add CAP_SYS_PTRACE to the exporter"));
  access.own_filter_denies_ptrace = true;
  EXPECT_THAT(ExplainRefusal(AccessPoint::kAttach, access).detail, HasSubstr("refuses ptrace"));
  access.yama_scope = 1;
  access.errors = {.mem = EACCES, .attach = EPERM};
  EXPECT_THAT(ExplainRefusal(AccessPoint::kAttach, access).remedy, HasSubstr("; and add CAP_SYS_PTRACE"));
}

TEST(TrackerDecisionTest, TargetGone) {
  TargetAccess access;
  access.gone = true;
  EXPECT_EQ(Decide(TrackerKind::kHashDiff, access).reason, "target_gone");
  access = SameUserNoCapabilities();
  access.errors = {.pagemap = ENOENT};
  EXPECT_EQ(Decide(TrackerKind::kSoftDirty, access).reason, "target_gone");
}

}  // namespace
}  // namespace mempulse
