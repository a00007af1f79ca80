#pragma once

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "collectors/host/host.h"
#include "collectors/pages/page_tracker.h"
#include "collectors/targets/target.h"
#include "config/options.h"

namespace mempulse {

class CooperativeOffers;

// Whether one mechanism works, and if not exactly why and what would help.
struct TrackerSupport {
  TrackerKind kind = TrackerKind::kHashDiff;
  bool supported = false;
  // Closed set, used as a label: "ok", "not_allowed" (attach: false), "no_offer" (attach: cooperative, and
  // the target has handed nothing over), "kernel", "seccomp", "yama", "capability", "other_user",
  // "not_dumpable", "foreign_tracker", "foreign_memory" (it handed over what is not its own), "architecture",
  // "target_gone", "error".
  std::string reason = "ok";
  std::string detail;  // a sentence: what was tried and what the kernel answered
  std::string remedy;  // a sentence: what the operator can do; empty when nothing helps
};

// Does each mechanism work on memory of our own? Functional: write, clear, look (must fall), write, look
// (must rise), leave alone, look (must stay low). Touches only this process. Takes a few milliseconds;
// thread-safe.
std::vector<TrackerSupport> ProbeTrackers(const Host& host);

// Where writeprotect may get its userfaultfd from.
struct AttachTerms {
  AttachChoice choice = AttachChoice::kNever;
  CooperativeOffers* offers = nullptr;  // with kCooperative: not owned; null when nobody listens
};

// May and can each mechanism be used on this target? `own` is what ProbeTrackers gave. Opens files for real,
// never stops or changes the target (the attach itself may still fail and is then reported by OpenTracker).
std::vector<TrackerSupport> ProbeTarget(const Host& host, const Target& target,
                                        const std::vector<TrackerSupport>& own, const AttachTerms& terms);

struct ChosenTracker {
  std::unique_ptr<PageTracker> tracker;  // null when every mechanism refused
  std::vector<TrackerSupport> support;   // all three, in the order of preference
};

// Opens the wanted tracker, or for kAuto the first that works of writeprotect (attach allowed), softdirty,
// hashdiff. NotFound when the target is gone. The tracker may not outlive host and target.
absl::StatusOr<ChosenTracker> OpenTracker(const Host& host, const Target& target,
                                          const std::vector<TrackerSupport>& own, TrackerChoice choice,
                                          const AttachTerms& terms);

// The same for who knows no offers.
inline std::vector<TrackerSupport> ProbeTarget(const Host& host, const Target& target,
                                               const std::vector<TrackerSupport>& own, bool may_inject) {
  return ProbeTarget(host, target, own,
                     AttachTerms{may_inject ? AttachChoice::kInject : AttachChoice::kNever, nullptr});
}
inline absl::StatusOr<ChosenTracker> OpenTracker(const Host& host, const Target& target,
                                                 const std::vector<TrackerSupport>& own, TrackerChoice choice,
                                                 bool may_inject) {
  return OpenTracker(host, target, own, choice,
                     AttachTerms{may_inject ? AttachChoice::kInject : AttachChoice::kNever, nullptr});
}

}  // namespace mempulse
