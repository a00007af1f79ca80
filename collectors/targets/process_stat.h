#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "collectors/host/host.h"
#include "collectors/targets/process_id.h"

namespace mempulse {

// The fields of /proc/PID/stat that we use. Readable for every process.
struct ProcessStat {
  ProcessId id;
  std::string comm;  // any byte, also ")" and newline; 15 bytes for processes, more for kernel threads
  char state = '?';
  pid_t parent = 0;
  bool kernel_thread = false;
  bool forked_without_exec = false;
  // Addresses; 0 when this process may not see them (needs ptrace read access) or there is no address space.
  uint64_t start_code = 0;
  uint64_t end_code = 0;
  uint64_t start_stack = 0;

  // Zombie or dead: has no memory any more. Also shown for a process whose first thread ended before the
  // others.
  bool ended() const { return state == 'Z' || state == 'X' || state == 'x'; }
};

// InvalidArgument when the text is no stat line.
absl::StatusOr<ProcessStat> ParseProcessStat(absl::string_view text);
// NotFound when there is no such process.
absl::StatusOr<ProcessStat> ReadProcessStat(const Host& host, pid_t pid);

}  // namespace mempulse
