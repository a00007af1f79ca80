#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "collectors/host/host.h"
#include "collectors/targets/process_id.h"

namespace mempulse {

// What is known of a process at discovery; a plain value.
struct ProcessFacts {
  ProcessId id;
  pid_t parent = 0;
  std::string comm;  // at most 15 bytes, any byte
  std::string exe;   // readlink of /proc/PID/exe without " (deleted)"; empty when not permitted
  std::vector<std::string> command_line;  // of its first 4 KiB, without empty arguments at the end
  std::string cgroup;                     // unified path, or the memory controller's where that is on v1
  uint32_t uid = 0;                       // effective
  uint32_t gid = 0;
  bool kernel_thread = false;
  char state = '?';  // third field of stat: R S D Z T ...
};

// All of it, about one and the same process: NotFound when it ended, or its number went to another,
// meanwhile. InvalidArgument when `pid` is a thread of another process. Reads are bounded to a few KiB each.
absl::StatusOr<ProcessFacts> ReadProcessFacts(const Host& host, pid_t pid);

// The parts that cost a read of their own. A process can end between two of them.
absl::StatusOr<std::string> ReadExecutable(const Host& host, pid_t pid);
// The first 4 KiB of the command line, arguments ended by NUL, without the NULs at the end.
absl::StatusOr<std::string> ReadCommandLine(const Host& host, pid_t pid);
absl::StatusOr<std::string> ReadCgroup(const Host& host, pid_t pid);

// The path that ReadCgroup takes from the text of /proc/PID/cgroup; empty when there is none.
std::string ParseCgroup(absl::string_view text);

}  // namespace mempulse
