#include "exporter/round/watch_set.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "collectors/host/clock.h"
#include "collectors/host/host.h"

namespace mempulse {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

absl::Time At(int64_t seconds) { return absl::FromUnixSeconds(1'000'000 + seconds); }

FoundGroup Group(const std::string& name, const std::vector<int>& pids, int matched = 0) {
  FoundGroup group;
  group.name = name;
  for (const int pid : pids) {
    ProcessFacts& facts = group.processes.emplace_back();
    facts.id.pid = pid;
    facts.id.start_time_ticks = 7;
    facts.comm = name;
  }
  group.matched = std::max(matched, static_cast<int>(pids.size()));
  return group;
}

TargetGroupOptions Named(const std::string& name) {
  TargetGroupOptions options;
  options.name = name;
  return options;
}

// Nothing is ever opened: the watches stand before a /proc that is not there.
class WatchSetTest : public testing::Test {
 protected:
  std::vector<int> TakeAll(absl::Time now) {
    std::vector<int> pids;
    while (Watched* const watched = set_.Take(now)) {
      taken_.push_back(watched);
      pids.push_back(watched->report.id.pid);
    }
    return pids;
  }
  void ReturnAll() {
    for (Watched* const watched : taken_) set_.Return(watched, WatchOutcome{});
    taken_.clear();
  }

  Host host_{"/nowhere"};
  SystemClock clock_;
  std::vector<TrackerSupport> support_;
  WatchSet set_{[this](const ProcessFacts& facts) {
    return std::make_unique<TargetWatch>(host_, clock_, facts, support_, nullptr);
  }};
  std::vector<Watched*> taken_;
};

TEST_F(WatchSetTest, EveryProcessGetsOneTurnARound) {
  set_.Adopt({Group("shop", {11, 12}), Group("cache", {21})});
  EXPECT_EQ(set_.wanted(), 3);
  EXPECT_THAT(TakeAll(At(0)), ElementsAre(11, 12, 21));
  EXPECT_FALSE(set_.waiting());
  EXPECT_EQ(set_.in_flight(), 3);
  ReturnAll();
  EXPECT_EQ(set_.in_flight(), 0);
  EXPECT_EQ(set_.Report(Named("shop"), true).totals.sweeps.at("failed"), 2u);
}

TEST_F(WatchSetTest, WhoIsStillBeingSweptIsNotStartedTwice) {
  set_.Adopt({Group("shop", {11, 12})});
  taken_.push_back(set_.Take(At(0)));
  set_.Adopt({Group("shop", {11, 12})});
  EXPECT_THAT(TakeAll(At(15)), ElementsAre(12));
}

TEST_F(WatchSetTest, WhoWasLeftOverComesFirstAndIsCounted) {
  set_.Adopt({Group("shop", {11, 12, 13})});
  taken_.push_back(set_.Take(At(0)));
  EXPECT_THAT(set_.LeaveOver(), ElementsAre("shop"));
  EXPECT_FALSE(set_.waiting());
  ReturnAll();
  const GroupReport report = set_.Report(Named("shop"), true);
  EXPECT_EQ(report.totals.errors.at("time_limit"), 2u);
  EXPECT_FALSE(report.success);
  set_.Adopt({Group("shop", {11, 12, 13})});
  EXPECT_THAT(TakeAll(At(15)), ElementsAre(12, 13, 11));
  EXPECT_THAT(set_.LeaveOver(), IsEmpty());
}

TEST_F(WatchSetTest, WhoIsNoLongerFoundIsForgottenOnceItsSweepHasEnded) {
  set_.Adopt({Group("shop", {11, 12})});
  taken_.push_back(set_.Take(At(0)));
  set_.Adopt({Group("shop", {})});
  EXPECT_EQ(set_.Report(Named("shop"), true).processes.size(), 1u) << "one is in flight";
  ReturnAll();
  set_.Adopt({Group("shop", {})});
  EXPECT_THAT(set_.Report(Named("shop"), true).processes, IsEmpty());
  EXPECT_EQ(set_.Report(Named("shop"), true).totals.sweeps.at("failed"), 1u) << "what it added stays";
}

TEST_F(WatchSetTest, AProcessThatExitedIsNotReported) {
  set_.Adopt({Group("shop", {11})});
  WatchOutcome outcome;
  outcome.outcome = SweepOutcome::kExited;
  outcome.problem = absl::NotFoundError("gone");
  set_.Return(set_.Take(At(0)), outcome);
  const GroupReport report = set_.Report(Named("shop"), true);
  EXPECT_THAT(report.processes, IsEmpty());
  EXPECT_TRUE(report.success) << "an end is no failure";
}

TEST_F(WatchSetTest, NotReadyUntilAProcessWasSwept) {
  EXPECT_EQ(set_.NotReadyReason(), "") << "nothing is wanted";
  set_.Adopt({Group("shop", {11})});
  EXPECT_EQ(set_.NotReadyReason(), "no process has been swept yet");
}

}  // namespace
}  // namespace mempulse
