#include "collectors/targets/target.h"

#include <fcntl.h>
#include <unistd.h>

#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "collectors/host/pidfd.h"
#include "collectors/targets/process_stat.h"

namespace mempulse {
namespace {

absl::Status Gone(const ProcessId& id) {
  return absl::NotFoundError(
      absl::StrCat("process ", id.pid, " (started at tick ", id.start_time_ticks, ") is gone"));
}

// The kernel keeps the address space of the moment of opening behind this descriptor, also after an exec.
bool HasMappings(int maps) {
  char first = 0;
  return pread(maps, &first, 1, 0) == 1;
}

UniqueFd OpenAddressSpace(const Host& host, pid_t pid) {
  absl::StatusOr<UniqueFd> maps = host.Open(host.ProcPath(pid, "maps"), O_RDONLY | O_NONBLOCK);
  if (!maps.ok() || !HasMappings(maps->get())) return UniqueFd();
  return *std::move(maps);
}

}  // namespace

Target::Target(ProcessFacts facts, UniqueFd pidfd, UniqueFd address_space, ExecutionMarks marks)
    : facts_(std::move(facts)),
      pidfd_(std::move(pidfd)),
      address_space_(std::move(address_space)),
      marks_(std::move(marks)) {}

absl::StatusOr<Target> Target::Open(const Host& host, ProcessFacts facts) {
  const pid_t pid = facts.id.pid;
  UniqueFd pidfd;
  if (host.procfs() == "/proc") {
    absl::StatusOr<UniqueFd> opened = OpenPidfd(pid);
    if (!opened.ok() && !absl::IsUnavailable(opened.status())) return opened.status();
    if (opened.ok()) pidfd = *std::move(opened);
  }
  UniqueFd address_space = OpenAddressSpace(host, pid);
  const absl::StatusOr<ProcessStat> stat = ReadProcessStat(host, pid);
  if (!stat.ok()) return stat.status();
  if (!(stat->id == facts.id)) return Gone(facts.id);
  ExecutionMarks marks = ReadExecutionMarks(host, *stat);
  // Alive now: then its number was its own through all of the reads above.
  if (pidfd.valid() ? PidfdHasExited(pidfd.get()) : stat->ended()) return Gone(facts.id);
  return Target(std::move(facts), std::move(pidfd), std::move(address_space), std::move(marks));
}

absl::StatusOr<Target::Change> Target::Check(const Host& host) const {
  if (pidfd_.valid() && PidfdHasExited(pidfd_.get())) return Change::kExited;
  const absl::StatusOr<ProcessStat> stat = ReadProcessStat(host, pid());
  if (absl::IsNotFound(stat.status())) return Change::kExited;
  if (!stat.ok()) return stat.status();
  if (!(stat->id == facts_.id)) return Change::kExited;
  // Without a pidfd a process whose first thread ended early cannot be told from a dead one.
  if (!pidfd_.valid() && stat->ended()) return Change::kExited;
  const bool executed = (address_space_.valid() && !HasMappings(address_space_.get())) ||
                        ShowExec(marks_, ReadExecutionMarks(host, *stat));
  if (!executed) return Change::kNone;
  // An exit takes the address space away as well, a moment before the pidfd tells.
  if (pidfd_.valid() && PidfdHasExited(pidfd_.get())) return Change::kExited;
  return Change::kExecuted;
}

}  // namespace mempulse
