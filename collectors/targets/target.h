#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "collectors/host/host.h"
#include "collectors/host/unique_fd.h"
#include "collectors/targets/process_id.h"

namespace mempulse {

// What is known of a process at discovery; a plain value.
struct ProcessFacts {
  ProcessId id;
  pid_t parent = 0;
  std::string comm;              // at most 15 bytes, any byte
  std::string exe;               // readlink of /proc/PID/exe without " (deleted)"; empty when not permitted
  std::vector<std::string> command_line;
  std::string cgroup;            // unified path, or the memory controller's path on v1
  uint32_t uid = 0;
  uint32_t gid = 0;
  bool kernel_thread = false;
  char state = '?';              // third field of stat: R S D Z T ...
};

absl::StatusOr<ProcessFacts> ReadProcessFacts(const Host& host, pid_t pid);

// One process under watch: facts plus a pidfd that pins it. Move-only; not thread-safe.
class Target {
 public:
  // Opens the pidfd and proves that the process behind it still has `facts.id` (else NotFound). On a fixture host
  // (procfs not /proc) there is no pidfd.
  static absl::StatusOr<Target> Open(const Host& host, ProcessFacts facts);

  const ProcessFacts& facts() const { return facts_; }
  pid_t pid() const { return facts_.id.pid; }
  int pidfd() const { return pidfd_.get(); }

  // What has happened since Open or the last acknowledged check.
  enum class Change { kNone, kExecuted, kExited };
  // Exit is read from the pidfd and start time; exec from the exe link and the address-space start fields of
  // /proc/PID/stat and auxv. kExecuted stays set until the target is opened again.
  absl::StatusOr<Change> Check(const Host& host) const;

 private:
  Target(ProcessFacts facts, UniqueFd pidfd, std::string generation);

  ProcessFacts facts_;
  UniqueFd pidfd_;
  std::string generation_;  // what exec changes
};

}  // namespace mempulse
