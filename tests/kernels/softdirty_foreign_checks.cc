#include "tests/kernels/softdirty_foreign_checks.h"

#include <fcntl.h>
#include <unistd.h>

#include <stdexcept>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "collectors/host/unique_fd.h"
#include "collectors/pages/softdirty_tracker.h"
#include "collectors/pages/tracker_probe.h"
#include "tests/kernels/puppet.h"
#include "tests/kernels/virtual_sweep.h"

namespace mempulse {
namespace {

constexpr int64_t kMillisecond = 1'000'000;

uint64_t At(uint64_t page) { return Puppet::kArea + page * kPageSize; }

// Somebody else's clear_refs of the puppet.
class ForeignClear {
 public:
  explicit ForeignClear(const Puppet& puppet)
      : fd_(open(absl::StrCat("/proc/", puppet.pid(), "/clear_refs").c_str(), O_WRONLY | O_CLOEXEC)) {
    if (!fd_.valid()) throw std::runtime_error("clear_refs could not be opened");
  }
  void operator()() const {
    if (write(fd_.get(), "4", 1) != 1) throw std::runtime_error("clear_refs could not be written");
  }

 private:
  UniqueFd fd_;
};

// Period 0 with due 0: nobody.
VirtualAnswer SweepBeside(const Subject& subject, int64_t period_nanos, int64_t due_nanos) {
  Puppet puppet;
  puppet.Map(At(0), 32);
  puppet.Write(At(0), 32);
  const ForeignClear foreign(puppet);
  VirtualSweep plan;
  plan.area = {At(0), At(32)};
  plan.events = {WritesOf(&puppet, At(2), 2, 5, 0.3), WritesOf(&puppet, At(8), 2, 50, 0.3),
                 WritesOf(&puppet, At(16), 2, 200, 0.3)};
  if (due_nanos > 0) plan.events.push_back({[&foreign] { foreign(); }, period_nanos, due_nanos});
  return RunVirtualSweep(subject, &puppet, plan);
}

std::string ReasonOf(const ChosenTracker& chosen) {
  for (const TrackerSupport& support : chosen.support) {
    if (support.kind == TrackerKind::kSoftDirty) return support.reason;
  }
  return "absent";
}

}  // namespace

std::string CheckForeignClears(const Subject& subject, uint64_t* looks) {
  std::string problems;
  const VirtualAnswer alone = SweepBeside(subject, 0, 0);
  if (alone.outcome != SweepOutcome::kComplete || alone.discarded != 0) {
    absl::StrAppend(&problems, "alone: ", SweepOutcomeName(alone.outcome), ", ", alone.discarded,
                    " looks discarded; ");
  }
  const VirtualAnswer once = SweepBeside(subject, 0, 200 * kMillisecond);
  if (once.outcome != SweepOutcome::kComplete || once.discarded > 1) {
    absl::StrAppend(&problems, "one clear: ", SweepOutcomeName(once.outcome), ", ", once.discarded,
                    " looks discarded; ");
  }
  const VirtualAnswer often = SweepBeside(subject, 17 * kMillisecond, 5 * kMillisecond);
  if (often.outcome != SweepOutcome::kForeignTracker) {
    absl::StrAppend(&problems, "a clear every 17 ms: ", SweepOutcomeName(often.outcome), "; ");
  }
  if (looks != nullptr) *looks = often.looks;
  return problems;
}

std::string CheckSecondTracker() {
  const Host host;
  Puppet puppet;
  const Target target = OpenTarget(host, puppet.pid());
  std::string problems;
  {
    const absl::StatusOr<std::unique_ptr<PageTracker>> first = OpenSoftDirtyTracker(host, target);
    if (!first.ok()) return std::string(first.status().message());
    const absl::Status second = OpenSoftDirtyTracker(host, target).status();
    if (!absl::IsUnavailable(second) || !absl::StartsWith(second.message(), "foreign_tracker: ")) {
      absl::StrAppend(&problems, "the second one: ", second.message(), "; ");
    }
    for (const TrackerSupport& support : ProbeTarget(host, target, ProbeTrackers(host), false)) {
      if (support.kind != TrackerKind::kSoftDirty || support.reason == "foreign_tracker") continue;
      absl::StrAppend(&problems, "the probe says ", support.reason, "; ");
    }
    const absl::StatusOr<ChosenTracker> chosen =
        OpenTracker(host, target, ProbeTrackers(host), TrackerChoice::kAuto, false);
    const bool hashes =
        chosen.ok() && chosen->tracker != nullptr && chosen->tracker->kind() == TrackerKind::kHashDiff;
    if (!hashes || ReasonOf(*chosen) != "foreign_tracker") absl::StrAppend(&problems, "auto did not hash; ");
  }
  const absl::Status third = OpenSoftDirtyTracker(host, target).status();
  if (!third.ok()) absl::StrAppend(&problems, "after the first: ", third.message(), "; ");
  return problems;
}

}  // namespace mempulse
