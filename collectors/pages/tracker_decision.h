#pragma once

#include <string>

#include "absl/strings/string_view.h"
#include "collectors/pages/tracker_access.h"
#include "collectors/pages/tracker_kind.h"
#include "collectors/pages/tracker_probe.h"

// Why a target refuses us, and what would help: arithmetic on facts, no system call.
namespace mempulse {

// One of the things that are tried on a target.
enum class AccessPoint { kMaps, kSmaps, kPagemap, kMem, kClearRefs, kAttach };

// "maps", "smaps", "pagemap", "mem", "clear_refs", "attach": a static string.
absl::string_view AccessPointName(AccessPoint point);
int AccessError(AccessPoint point, const AccessErrors& errors);

struct AccessRefusal {
  std::string reason;  // of the closed set of TrackerSupport
  std::string detail;
  std::string remedy;
};

// `point` answered access.errors with something other than 0: which of the kernel's checks it was.
AccessRefusal ExplainRefusal(AccessPoint point, const TargetAccess& access);

// May and can this mechanism be used on the target? `own` is the mechanism's probe on our own memory.
TrackerSupport DecideSupport(const TrackerSupport& own, const TargetAccess& access, bool attach_allowed);

}  // namespace mempulse
