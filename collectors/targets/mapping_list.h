#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "collectors/host/host.h"
#include "collectors/targets/process_id.h"
#include "collectors/targets/region_kind.h"

namespace mempulse {

// One line of /proc/PID/maps. Addresses and offset in bytes, [start, end).
struct Mapping {
  uint64_t start = 0;
  uint64_t end = 0;
  bool readable = false;
  bool writable = false;
  bool executable = false;
  bool shared = false;  // 's' in the fourth permission column
  uint64_t offset = 0;
  uint32_t device_major = 0;
  uint32_t device_minor = 0;
  uint64_t inode = 0;
  // The text as the kernel gave it after undoing its \012 escape; may hold any byte, up to PATH_MAX. Never
  // trust it as an identity: a file may really be called "x (deleted)".
  std::string name;
  bool deleted = false;  // name ended in " (deleted)", which is cut from `name`
  RegionKind kind = RegionKind::kOther;

  uint64_t size() const { return end - start; }
};

// Parses the text of a maps file. A line that cannot be parsed is an InvalidArgument that quotes it
// (escaped); an empty text gives an empty list (a zombie or kernel thread).
absl::StatusOr<std::vector<Mapping>> ParseMappings(absl::string_view text);

// Reads PROCFS/PID/maps. At most `limit` bytes are read (a target with a hostile number of mappings); a list
// that was cut there ends with its last whole line and sets *truncated.
absl::StatusOr<std::vector<Mapping>> ReadMappings(const Host& host, pid_t pid, bool* truncated,
                                                  size_t limit = 64 << 20);

// The mapping that holds `address` in an ascending list, or nullptr.
const Mapping* FindMapping(const std::vector<Mapping>& mappings, uint64_t address);

}  // namespace mempulse
