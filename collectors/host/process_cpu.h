#pragma once

#include <sys/types.h>

#include <cstdint>

#include "absl/status/statusor.h"

namespace mempulse {

// CPU time that all threads of a process (dead ones included) have used, nanoseconds. One system call
// whatever the number of threads, no permission needed; for another process the kernel brings it up to date
// at clock ticks and context switches only, so differences over less than 10 ms mean little. NotFound when
// the process is gone. Source: clock_getcpuclockid(3).
absl::StatusOr<int64_t> ProcessCpuNanos(pid_t pid);

// The same for the calling thread, exact.
int64_t ThreadCpuNanos();

}  // namespace mempulse
