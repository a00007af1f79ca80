#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "collectors/host/host.h"
#include "collectors/targets/mapping_list.h"

namespace mempulse {

// GNU build id (lower-case hex) of an ELF image given as bytes; every offset is bounds-checked. NotFound when
// the image has none, InvalidArgument when it is no well-formed 64- or 32-bit ELF of this machine's byte
// order.
absl::StatusOr<std::string> BuildIdOfElf(absl::Span<const uint8_t> image);

// Build id of the file behind a file mapping, read through /proc/PID/map_files or, where that needs
// CAP_SYS_ADMIN or CAP_CHECKPOINT_RESTORE, through /proc/PID/root + name, and only when the inode of what was
// opened is the mapping's, and the device too unless either is an anonymous one (major 0: overlayfs and btrfs
// give maps and stat different ones). Regular files only, never blocking on a fifo, lease or FUSE server; at
// most 1 MiB of headers and notes is read. NotFound and Unavailable are normal (not this file any more, no
// permission); InvalidArgument: no proper ELF.
absl::StatusOr<std::string> ReadBuildId(const Host& host, pid_t pid, const Mapping& mapping);

}  // namespace mempulse
