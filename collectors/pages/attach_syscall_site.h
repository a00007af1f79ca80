#pragma once

#include <sys/types.h>

#include <cstdint>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "collectors/host/host.h"
#include "collectors/targets/mapping_list.h"

namespace mempulse {

// Address of a `syscall` instruction in the target's executable memory: the vdso's first, then one of the C
// library, then any. 0 when there is none in the first 16 MiB looked at (or the process is just being
// replaced). Reads /proc/PID/mem.
absl::StatusOr<uint64_t> FindSyscallInstruction(const Host& host, pid_t pid,
                                                absl::Span<const Mapping> mappings);

// Offset of the two bytes of `syscall` in `code`, or -1.
int64_t FindSyscallBytes(absl::Span<const uint8_t> code);

}  // namespace mempulse
