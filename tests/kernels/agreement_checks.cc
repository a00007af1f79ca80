// One workload under every tracker of the kernel, in virtual time: their answers hold the truth or say what
// is lost, and those of soft-dirty and write protection agree.
#include <cmath>
#include <cstdio>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "collectors/pages/tracker_probe.h"
#include "gtest/gtest.h"
#include "tests/kernels/guest_kernel.h"
#include "tests/kernels/softdirty_rate_checks.h"

namespace mempulse {
namespace {

constexpr double kTolerance = 1.05;

struct TrackerAnswer {
  TrackerKind kind;
  FrequencyMap map;
};

// Of every tracker that can be used on a puppet of its own.
std::vector<TrackerAnswer> AskEveryTracker(uint64_t seed) {
  const Host host;
  const std::vector<TrackerSupport> own = ProbeTrackers(host);
  std::vector<TrackerAnswer> answers;
  for (const TrackerChoice choice :
       {TrackerChoice::kSoftDirty, TrackerChoice::kWriteProtect, TrackerChoice::kHashDiff}) {
    Puppet puppet;
    MapTiers(&puppet);
    const Target target = OpenTarget(host, puppet.pid());
    absl::StatusOr<ChosenTracker> chosen = OpenTracker(host, target, own, choice, true);
    EXPECT_TRUE(chosen.ok()) << chosen.status();
    if (!chosen.ok() || chosen->tracker == nullptr) continue;
    const TrackerKind kind = chosen->tracker->kind();
    const VirtualSweep plan = PlanTiers(&puppet, seed);
    answers.push_back({kind, RunVirtualSweepWith(std::move(chosen->tracker), &puppet, plan).map});
  }
  return answers;
}

// At most the truth is claimed, and all of it unless a loss is said.
void ExpectTruth(const PageFrequency* page, const Tier& tier, const std::string& what) {
  ASSERT_NE(page, nullptr) << what << ": never hit";
  EXPECT_LE(page->low_hertz, tier.hertz * kTolerance) << what;
  if (page->state == PageState::kMeasured || std::isinf(tier.hertz)) {
    EXPECT_GE(page->high_hertz, tier.hertz / kTolerance) << what;
  }
}

TEST(Agreement, EveryTrackerHoldsTheTruthOrSaysWhatIsLost) {
  std::ofstream("/sys/kernel/mm/transparent_hugepage/enabled") << "madvise";
  for (uint64_t seed = 1; seed <= 3; ++seed) {
    std::map<TrackerKind, std::vector<const PageFrequency*>> pages;
    const std::vector<TrackerAnswer> answers = AskEveryTracker(seed);
    EXPECT_EQ(answers.size(), ReadGuestKernel().has_wp_async() ? 3U : 2U);
    for (const TrackerAnswer& answer : answers) {
      const std::string name(TrackerKindName(answer.kind));
      for (const Tier& tier : RatedTiers()) {
        const PageFrequency* page = FindPage(answer.map, tier.address);
        std::printf("run %d  %-13s %6.4g Hz  %s\n", static_cast<int>(seed), name.c_str(), tier.hertz,
                    DescribePage(page).c_str());
        ExpectTruth(page, tier, name + " at " + std::to_string(tier.hertz) + " Hz");
        pages[answer.kind].push_back(page);
      }
    }
    const std::vector<const PageFrequency*>& protects = pages[TrackerKind::kWriteProtect];
    const std::vector<const PageFrequency*>& dirty = pages[TrackerKind::kSoftDirty];
    for (size_t tier = 0; tier < protects.size(); ++tier) {
      ASSERT_TRUE(protects[tier] != nullptr && dirty[tier] != nullptr);
      EXPECT_LE(protects[tier]->low_hertz, dirty[tier]->high_hertz) << RatedTiers()[tier].hertz;
      EXPECT_LE(dirty[tier]->low_hertz, protects[tier]->high_hertz) << RatedTiers()[tier].hertz;
    }
  }
}

}  // namespace
}  // namespace mempulse
