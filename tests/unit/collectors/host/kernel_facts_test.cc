#include "collectors/host/kernel_facts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace mempulse {
namespace {

using ::testing::ElementsAre;

TEST(ProcessSecurityTest, ReadsTheStatusText) {
  const absl::StatusOr<ProcessSecurity> facts = ParseProcessSecurity(
      "Name:\tx\nTracerPid:\t17\nUid:\t1000\t1001\t1002\t1003\nGid:\t5\t6\t7\t8\n"
      "CapPrm:\t0000000000080002\nCapEff:\t0000000000080000\nNoNewPrivs:\t1\nSeccomp:\t2\nSeccomp_filters:"
      "\t1\n");
  ASSERT_TRUE(facts.ok()) << facts.status();
  EXPECT_THAT(facts->uids, ElementsAre(1000, 1001, 1002, 1003));
  EXPECT_THAT(facts->gids, ElementsAre(5, 6, 7, 8));
  EXPECT_THAT(facts->permitted.Names(), ElementsAre("CAP_DAC_OVERRIDE", "CAP_SYS_PTRACE"));
  EXPECT_THAT(facts->effective.Names(), ElementsAre("CAP_SYS_PTRACE"));
  EXPECT_TRUE(facts->no_new_privileges);
  EXPECT_EQ(facts->seccomp_mode, 2);
  EXPECT_EQ(facts->tracer, 17);
}

TEST(ProcessSecurityTest, NeedsTheUid) {
  EXPECT_FALSE(ParseProcessSecurity("").ok());
  EXPECT_FALSE(ParseProcessSecurity("Uid:\t1\t2\n").ok());
}

TEST(CapabilitySetTest, NamesAndSubsets) {
  EXPECT_EQ(CapabilityName(Capability::kBpf), "CAP_BPF");
  EXPECT_EQ(CapabilityName(40), "CAP_CHECKPOINT_RESTORE");
  EXPECT_EQ(CapabilityName(41), "CAP_41");
  const CapabilitySet both = CapabilitySet::Of({Capability::kSysAdmin, Capability::kSysPtrace});
  EXPECT_TRUE(both.Contains(CapabilitySet::Of({Capability::kSysAdmin})));
  EXPECT_FALSE(CapabilitySet::Of({Capability::kSysAdmin}).Contains(both));
  CapabilitySet parsed;
  EXPECT_TRUE(ParseCapabilitySet("000001fffeffffff", &parsed));
  EXPECT_FALSE(ParseCapabilitySet("", &parsed));
  EXPECT_FALSE(ParseCapabilitySet("12x", &parsed));
}

TEST(ResourceLimitTest, ReadsALine) {
  constexpr char kText[] =
      "Limit                     Soft Limit           Hard Limit           Units     \n"
      "Max open files            1024                 524288               files     \n"
      "Max locked memory         8388608              unlimited            bytes     \n";
  EXPECT_EQ(ParseResourceLimit(kText, "Max open files")->hard, 524288u);
  EXPECT_EQ(ParseResourceLimit(kText, "Max locked memory")->soft, 8388608u);
  EXPECT_EQ(ParseResourceLimit(kText, "Max locked memory")->hard, UINT64_MAX);
  EXPECT_FALSE(ParseResourceLimit(kText, "Max sorrow").has_value());
}

TEST(KernelFactsTest, ReadsTheRunningKernel) {
  const KernelFacts facts = ReadKernelFacts(Host());
  EXPECT_TRUE(facts.AtLeast(3, 0)) << facts.release;
  EXPECT_FALSE(facts.AtLeast(1000, 0));
}

TEST(KernelFactsTest, NothingToRead) {
  const KernelFacts facts = ReadKernelFacts(Host("/nonexistent", "/nonexistent"));
  EXPECT_EQ(facts.release, "");
  EXPECT_FALSE(facts.yama_scope.has_value());
}

}  // namespace
}  // namespace mempulse
