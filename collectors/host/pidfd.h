#pragma once

#include <sys/types.h>

#include "absl/status/statusor.h"
#include "collectors/host/unique_fd.h"

namespace mempulse {

// A descriptor that stays with this very process even when its number is given to another. NotFound when
// there is no such process, Unavailable when the kernel or a seccomp filter refuses. Thread-safe.
absl::StatusOr<UniqueFd> OpenPidfd(pid_t pid);

// Whether all threads of the process have ended (a zombie counts as ended). False when it cannot be told.
bool PidfdHasExited(int pidfd);

}  // namespace mempulse
