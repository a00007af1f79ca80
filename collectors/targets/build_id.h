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
// CAP_SYS_ADMIN, through /proc/PID/root + name, and only when device and inode of what was opened equal the
// mapping's. Regular files only, O_NONBLOCK | O_NOFOLLOW; at most 1 MiB of headers and notes is read.
absl::StatusOr<std::string> ReadBuildId(const Host& host, pid_t pid, const Mapping& mapping);

}  // namespace mempulse
