#pragma once

#include "absl/strings/string_view.h"
#include "collectors/pages/tracker_access.h"

namespace mempulse {

// One of the things that are tried on a target.
enum class AccessPoint { kMaps, kSmaps, kPagemap, kMem, kClearRefs, kAttach };

// "maps", "smaps", "pagemap", "mem", "clear_refs", "attach": a static string.
absl::string_view AccessPointName(AccessPoint point);
int AccessError(AccessPoint point, const AccessErrors& errors);

}  // namespace mempulse
