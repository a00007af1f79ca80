#pragma once

#include <sys/types.h>

#include <cstdint>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "collectors/host/host.h"
#include "collectors/targets/mapping_list.h"

namespace mempulse {

// Address of a `syscall` instruction in the target's executable memory: the vdso's first, then one of the C
// library, then any. Unavailable when the first 16 MiB hold none. 0 when nothing could be read at these
// addresses or the mappings are others by now: the process is being replaced (exec) or ends. Reads
// /proc/PID/mem.
absl::StatusOr<uint64_t> FindSyscallInstruction(const Host& host, pid_t pid,
                                                absl::Span<const Mapping> mappings);

// Offset of the two bytes of `syscall` in `code`, or -1.
int64_t FindSyscallBytes(absl::Span<const uint8_t> code);

}  // namespace mempulse
