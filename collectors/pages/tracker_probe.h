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

// Whether one mechanism works, and if not exactly why and what would help.
struct TrackerSupport {
  TrackerKind kind = TrackerKind::kHashDiff;
  bool supported = false;
  // Closed set, used as a label: "ok", "not_allowed" (attach: false), "kernel", "seccomp", "yama",
  // "capability", "other_user", "not_dumpable", "foreign_tracker", "architecture", "target_gone", "error".
  std::string reason = "ok";
  std::string detail;  // a sentence: what was tried and what the kernel answered
  std::string remedy;  // a sentence: what the operator can do; empty when nothing helps
};

// Does each mechanism work on memory of our own? Functional: write, clear, look (must fall), write, look
// (must rise), leave alone, look (must stay low). Touches only this process. Takes a few milliseconds;
// thread-safe.
std::vector<TrackerSupport> ProbeTrackers(const Host& host);

// May and can each mechanism be used on this target? `own` is what ProbeTrackers gave. Opens files for real,
// never stops or changes the target (the attach itself may still fail and is then reported by OpenTracker).
std::vector<TrackerSupport> ProbeTarget(const Host& host, const Target& target,
                                        const std::vector<TrackerSupport>& own, bool attach_allowed);

struct ChosenTracker {
  std::unique_ptr<PageTracker> tracker;  // null when every mechanism refused
  std::vector<TrackerSupport> support;   // all three, in the order of preference
};

// Opens the wanted tracker, or for kAuto the first that works of writeprotect (attach allowed), softdirty,
// hashdiff. NotFound when the target is gone. The tracker may not outlive host and target.
absl::StatusOr<ChosenTracker> OpenTracker(const Host& host, const Target& target,
                                          const std::vector<TrackerSupport>& own, TrackerChoice choice,
                                          bool attach_allowed);

}  // namespace mempulse
