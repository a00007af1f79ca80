#include "config/option_warnings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace mempulse {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

Options OneGroup() {
  Options options;
  options.targets.resize(1);
  return options;
}

TEST(OptionWarningsTest, DefaultsWithATargetGiveNone) { EXPECT_THAT(OptionWarnings(OneGroup()), IsEmpty()); }

TEST(OptionWarningsTest, NothingIsWatched) {
  EXPECT_THAT(OptionWarnings(Options{}), ElementsAre("targets: no group is given, so nothing is watched"));
}

TEST(OptionWarningsTest, AttachThatNoTrackerUses) {
  Options options = OneGroup();
  options.targets[0].attach = AttachChoice::kInject;
  EXPECT_THAT(OptionWarnings(options), IsEmpty());
  options.targets[0].tracker = TrackerChoice::kSoftDirty;
  EXPECT_THAT(
      OptionWarnings(options),
      ElementsAre("targets[0].attach: true has no effect, because the tracker softdirty never attaches"));
}

TEST(OptionWarningsTest, ASocketThatNoGroupUses) {
  Options options = OneGroup();
  options.attach_socket = "/run/mempulse/attach.sock";
  EXPECT_THAT(OptionWarnings(options),
              ElementsAre("attach_socket: no target group says attach: cooperative, so no offer is used"));
  options.targets[0].attach = AttachChoice::kCooperative;
  EXPECT_THAT(OptionWarnings(options), IsEmpty());
}

TEST(OptionWarningsTest, LargeBudgetAndLimitsThatCannotBeMet) {
  Options options = OneGroup();
  options.targets[0].sweep.budget = 0.2;
  options.targets[0].sweep.target_time_limit = absl::Minutes(2);
  EXPECT_THAT(OptionWarnings(options),
              ElementsAre("targets[0].sweep.budget: 20% of a CPU slows the target noticeably",
                          "targets[0].sweep.target_time_limit: 2m is longer than round.time_limit (1m)"));
}

}  // namespace
}  // namespace mempulse
