#pragma once

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace mempulse {

// Which file something leads to. `device_*` and `inode` as stat reports them; `size` in bytes.
struct FileIdentity {
  uint32_t device_major = 0;
  uint32_t device_minor = 0;
  uint64_t inode = 0;
  uint64_t size = 0;
  bool regular = false;
  bool writable_by_all = false;
};

// Asks only for what the kernel has cached (AT_STATX_DONT_SYNC), so that a network or FUSE file system that
// never answers cannot hold the caller. `name` is for the error text. Thread-safe; errors as ErrnoStatus.
absl::StatusOr<FileIdentity> IdentifyDescriptor(int fd, absl::string_view name);
// Follows symbolic and magic links (/proc/PID/exe) to their end; opens nothing.
absl::StatusOr<FileIdentity> IdentifyPath(const std::string& path);

}  // namespace mempulse
