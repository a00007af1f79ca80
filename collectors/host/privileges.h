#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace mempulse {

// Gives up, for good and for all threads that start later, every capability that no page tracker needs (what
// stays, of what is held: CAP_SYS_PTRACE, CAP_DAC_READ_SEARCH, CAP_DAC_OVERRIDE, CAP_SYS_ADMIN,
// CAP_CHECKPOINT_RESTORE), and sets no_new_privs. Call before the first thread. Returns the names of what
// stays.
absl::StatusOr<std::vector<std::string>> DropUnneededPrivileges();

}  // namespace mempulse
