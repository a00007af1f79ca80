#pragma once

#include <sys/types.h>

#include "absl/status/statusor.h"
#include "collectors/host/host.h"
#include "collectors/host/unique_fd.h"
#include "collectors/targets/execution_marks.h"
#include "collectors/targets/process_facts.h"
#include "collectors/targets/process_id.h"

namespace mempulse {

// One process under watch: facts plus a pidfd that pins it. Move-only; not thread-safe. Holds two
// descriptors.
class Target {
 public:
  // Opens the pidfd and proves that the process behind it still has `facts.id` (else NotFound). On a fixture
  // host (procfs not /proc), and where a seccomp filter refuses pidfd_open, there is no pidfd and start time
  // alone tells.
  static absl::StatusOr<Target> Open(const Host& host, ProcessFacts facts);

  const ProcessFacts& facts() const { return facts_; }
  pid_t pid() const { return facts_.id.pid; }
  // Negative when there is none.
  int pidfd() const { return pidfd_.get(); }

  // What has happened since Open.
  enum class Change { kNone, kExecuted, kExited };
  // Exit is read from the pidfd and start time (a zombie has exited). Exec is read from a descriptor of the
  // address space that was there at Open, which reads empty once that is gone, and from ExecutionMarks for a
  // process that shared its address space with another (vfork). Both need ptrace read access (same uid and
  // dumpable, or CAP_SYS_PTRACE; Yama does not matter); without it, when no tracker works either, only the
  // first exec after a fork is noticed. kExecuted stays until the target is opened again.
  absl::StatusOr<Change> Check(const Host& host) const;

 private:
  Target(ProcessFacts facts, UniqueFd pidfd, UniqueFd address_space, ExecutionMarks marks);

  ProcessFacts facts_;
  UniqueFd pidfd_;
  UniqueFd address_space_;  // /proc/PID/maps as of Open; invalid when it may not be read
  ExecutionMarks marks_;
};

}  // namespace mempulse
