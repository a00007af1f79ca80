#pragma once

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/types/span.h"

namespace mempulse {

// Where the bytes of an untrusted ELF file come from.
class ElfBytes {
 public:
  virtual ~ElfBytes() = default;
  // Fills all of `out` from `offset`, or returns false (beyond the end, unreadable, over a budget).
  virtual bool ReadAt(uint64_t offset, absl::Span<uint8_t> out) = 0;
};

// The GNU build id, lower-case hex, from the note segments or else the note sections. Reads at most 512
// segment headers, 4096 section headers and 64 KiB of each note area. NotFound when the file has none;
// InvalidArgument when it is no ELF of this machine's byte order, or broken where the build id would be. Ids
// of 1 to 64 bytes are believed.
absl::StatusOr<std::string> FindElfBuildId(ElfBytes* elf);

}  // namespace mempulse
