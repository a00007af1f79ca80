#pragma once

#include <sys/types.h>

#include <cstddef>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "collectors/host/unique_fd.h"

namespace mempulse {

// The one door to procfs and sysfs, rooted at paths so that a test can put a fixture tree behind it.
// Immutable after construction and therefore thread-safe. Errors: see ErrnoStatus.
class Host {
 public:
  explicit Host(std::string procfs = "/proc", std::string sysfs = "/sys");

  const std::string& procfs() const { return procfs_; }
  const std::string& sysfs() const { return sysfs_; }

  // "PROCFS/PID/NAME"; `name` may hold slashes ("task/12/stat").
  std::string ProcPath(pid_t pid, absl::string_view name) const;

  // Reads at most `limit` bytes of a file; a longer file is cut, never an error (procfs files have no size).
  // Opens O_NONBLOCK | O_CLOEXEC, so a fifo behind a name cannot block.
  absl::StatusOr<std::string> ReadFile(const std::string& path, size_t limit = 1 << 20) const;
  absl::StatusOr<std::string> ReadProcFile(pid_t pid, absl::string_view name, size_t limit = 1 << 20) const;

  absl::StatusOr<UniqueFd> Open(const std::string& path, int flags) const;
  absl::StatusOr<std::string> ReadLink(const std::string& path) const;

  // Numeric entries of a procfs folder ("" = all processes, "PID/task" = its threads), ascending.
  absl::StatusOr<std::vector<pid_t>> ListNumeric(absl::string_view folder) const;

 private:
  std::string procfs_;
  std::string sysfs_;
};

}  // namespace mempulse
