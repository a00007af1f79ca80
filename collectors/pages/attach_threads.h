#pragma once

#include <sys/types.h>

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "collectors/host/host.h"

namespace mempulse {

// A thread of the target as a candidate for being stopped, from /proc/PID/task/TID/{stat,syscall}.
struct AttachThread {
  pid_t id = 0;
  char state = '?';
  bool in_user_space_ever =
      true;                  // false: a worker of the kernel (io_uring, vhost) that would never run a call
  int cpu = -1;              // where it ran last; -1 unknown
  int64_t system_call = -1;  // number it is blocked in; -1 running or not readable
};

// State and flags of a stat line; InvalidArgument when it is none.
absl::StatusOr<AttachThread> ParseAttachThread(absl::string_view stat_text);

// 0 is best: blocked in a call that is safe to interrupt. Negative: must not be tried (uninterruptible, dead,
// traced, kernel worker).
int AttachRank(const AttachThread& thread);

// Threads worth trying, best first, at most `limit`; looks at no more than 64 threads. Empty when all are
// unfit now.
absl::StatusOr<std::vector<AttachThread>> FindAttachThreads(const Host& host, pid_t pid, size_t limit);

// Whether a call that ended with EINTR only because of our stop may be started again: it had no effect yet.
// Not so close(), which has closed by then.
bool IsSafeToRestart(int64_t system_call);

}  // namespace mempulse
