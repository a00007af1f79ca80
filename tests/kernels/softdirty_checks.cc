// The soft-dirty tracker against the bits of a real kernel.
#include <cstdio>
#include <fstream>
#include <string>

#include "gtest/gtest.h"
#include "tests/kernels/guest_kernel.h"
#include "tests/kernels/puppet.h"
#include "tests/kernels/softdirty_foreign_checks.h"
#include "tests/kernels/softdirty_mapping_checks.h"
#include "tests/kernels/softdirty_mutants.h"
#include "tests/kernels/softdirty_rate_checks.h"

namespace mempulse {
namespace {

// Huge pages only where a check asks for them.
class SoftDirty : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { std::ofstream("/sys/kernel/mm/transparent_hugepage/enabled") << "madvise"; }
};

TEST_F(SoftDirty, WhatTheTargetDoesToItsMappings) {
  for (const MappingCheck& check : MappingChecks()) {
    const std::string problems = check.run(Subject{});
    EXPECT_EQ(problems, "") << check.name;
    std::printf("%-60s %s\n", check.name.c_str(), problems.empty() ? "true" : problems.c_str());
  }
}

TEST_F(SoftDirty, BasePagesThatBecomeAHugeOne) {
  bool declined = false;
  const std::string problems = CollapsedPages(Subject{}, &declined);
  if (declined) GTEST_SKIP() << "this kernel declines MADV_COLLAPSE on pages that were just cleared";
  EXPECT_EQ(problems, "");
}

TEST_F(SoftDirty, RatesInsideTheirIntervalsInTenRuns) {
  TierScore score;
  int held = 0;
  for (uint64_t seed = 1; seed <= 10; ++seed) {
    const std::string problems = CheckTiers(Subject{}, seed, &score);
    EXPECT_EQ(problems, "") << "run " << seed;
    held += problems.empty() ? 1 : 0;
  }
  std::printf("tiers: %d of 10 runs held; %d of %d true rates inside the interval to the letter\n", held,
              score.inside, score.asked);
  EXPECT_GE(score.inside, score.asked * 8 / 10);
}

TEST_F(SoftDirty, JitterIsWhatCuresThePhaseLock) {
  EXPECT_EQ(ShowPhaseLock(), "");
  EXPECT_EQ(CheckPhaseLock(Subject{}), "");
}

TEST_F(SoftDirty, LargeMappings) { EXPECT_EQ(CheckLargeMapping(Subject{}), ""); }

TEST_F(SoftDirty, ScansWhereTheKernelReallyFindsDirtyPages) {
  const Host host;
  const Puppet puppet;
  const Target target = OpenTarget(host, puppet.pid());
  EXPECT_EQ(OpenKernelOf(Subject{}, host, target)->scans(), ReadGuestKernel().scans_softdirty());
}

TEST_F(SoftDirty, SomebodyElseClears) {
  uint64_t looks = 0;
  EXPECT_EQ(CheckForeignClears(Subject{}, &looks), "");
  std::printf("a tracker that clears every 17 ms: named after %d looks\n", static_cast<int>(looks));
}

TEST_F(SoftDirty, OneTrackerAProcess) { EXPECT_EQ(CheckSecondTracker(), ""); }

TEST_F(SoftDirty, BrokenTrackersAreNoticed) {
  int noticed = 0;
  int asked = 0;
  for (const Mutant& mutant : Mutants()) {
    if (mutant.needs_scan && !ReadGuestKernel().scans_softdirty()) {
      std::printf("mutant: %-45s not asked: this kernel does not scan\n", mutant.subject.name.c_str());
      continue;
    }
    ++asked;
    const std::string problems = mutant.check(mutant.subject);
    EXPECT_NE(problems, "") << mutant.subject.name << " passed the check of " << mutant.check_name;
    noticed += problems.empty() ? 0 : 1;
    std::printf("mutant: %-45s %s: %s\n", mutant.subject.name.c_str(), mutant.check_name.c_str(),
                problems.empty() ? "NOT NOTICED" : problems.substr(0, 100).c_str());
  }
  std::printf("%d of %d mutants noticed\n", noticed, asked);
}

}  // namespace
}  // namespace mempulse
