#include "config/option_warnings.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "config/key_table.h"
#include "config/units.h"

namespace mempulse {
namespace {

constexpr double kUsualBudget = 0.1;

void WarnOfGroup(const TargetGroupOptions& group, const std::string& path, const RoundOptions& round,
                 std::vector<std::string>& warnings) {
  const bool can_attach =
      group.tracker == TrackerChoice::kAuto || group.tracker == TrackerChoice::kWriteProtect;
  if (group.attach != AttachChoice::kNever && !can_attach) {
    warnings.push_back(absl::StrCat(path, ".attach: ", AttachChoiceNames()[static_cast<size_t>(group.attach)],
                                    " has no effect, because the tracker ",
                                    TrackerChoiceNames()[static_cast<size_t>(group.tracker)],
                                    " never attaches"));
  }
  if (group.sweep.budget > kUsualBudget) {
    warnings.push_back(absl::StrCat(path, ".sweep.budget: ", RatioText(group.sweep.budget),
                                    " of a CPU slows the target noticeably"));
  }
  if (group.sweep.target_time_limit > round.time_limit) {
    warnings.push_back(
        absl::StrCat(path, ".sweep.target_time_limit: ", DurationText(group.sweep.target_time_limit),
                     " is longer than round.time_limit (", DurationText(round.time_limit), ")"));
  }
}

}  // namespace

std::vector<std::string> OptionWarnings(const Options& options) {
  std::vector<std::string> warnings;
  if (options.targets.empty()) warnings.push_back("targets: no group is given, so nothing is watched");
  const bool offers_wanted =
      std::any_of(options.targets.begin(), options.targets.end(),
                  [](const TargetGroupOptions& group) { return group.attach == AttachChoice::kCooperative; });
  if (!options.attach_socket.empty() && !offers_wanted) {
    warnings.push_back("attach_socket: no target group says attach: cooperative, so no offer is used");
  }
  for (size_t i = 0; i < options.targets.size(); ++i) {
    WarnOfGroup(options.targets[i], absl::StrCat("targets[", i, "]"), options.round, warnings);
  }
  return warnings;
}

}  // namespace mempulse
