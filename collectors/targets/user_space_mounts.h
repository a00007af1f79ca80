#pragma once

#include "absl/strings/string_view.h"
#include "collectors/targets/mapping_list.h"

namespace mempulse {

// Whether the file of `mapping` lies on a file system that an ordinary process serves (FUSE), or its path
// leads through one, by the text of the owner's /proc/PID/mountinfo. Opening such a file can take as long as
// that process likes. A mount that was detached from the tree, and a path through a symbolic link, are not
// seen.
bool IsOnUserSpaceMount(absl::string_view mountinfo, const Mapping& mapping);

}  // namespace mempulse
