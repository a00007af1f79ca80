#include "collectors/pages/attach_syscall_site.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "collectors/host/errno_status.h"

namespace mempulse {
namespace {

constexpr uint64_t kBlock = 64 << 10;
constexpr uint64_t kMostRead = 16 << 20;

int Preference(const Mapping& mapping) {
  if (!mapping.executable || mapping.writable || mapping.name == "[vsyscall]") return -1;
  if (mapping.name == "[vdso]") return 0;
  if (absl::StrContains(mapping.name, "/libc") || absl::StrContains(mapping.name, "/ld-")) return 1;
  return 2;
}

// 0 when the mapping holds none. Blocks overlap by a byte, so an instruction across their border is seen.
uint64_t FindIn(int memory, const Mapping& mapping, uint64_t* budget) {
  std::vector<uint8_t> block(kBlock + 1);
  for (uint64_t at = mapping.start; at<mapping.end&& * budget> 0; at += kBlock) {
    const size_t want = std::min<uint64_t>(block.size(), mapping.end - at);
    const ssize_t got = pread(memory, block.data(), want, static_cast<off_t>(at));
    if (got <= 0) return 0;
    *budget -= std::min<uint64_t>(*budget, static_cast<uint64_t>(got));
    const int64_t offset = FindSyscallBytes({block.data(), static_cast<size_t>(got)});
    if (offset >= 0) return at + static_cast<uint64_t>(offset);
  }
  return 0;
}

bool SameExtents(absl::Span<const Mapping> a, absl::Span<const Mapping> b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const Mapping& one, const Mapping& other) {
    return one.start == other.start && one.end == other.end;
  });
}

}  // namespace

int64_t FindSyscallBytes(absl::Span<const uint8_t> code) {
  for (size_t i = 0; i + 1 < code.size(); ++i) {
    if (code[i] == 0x0f && code[i + 1] == 0x05) return static_cast<int64_t>(i);
  }
  return -1;
}

absl::StatusOr<uint64_t> FindSyscallInstruction(const Host& host, pid_t pid,
                                                absl::Span<const Mapping> mappings) {
  const std::string path = host.ProcPath(pid, "mem");
  absl::StatusOr<UniqueFd> memory = host.Open(path, O_RDONLY);
  if (!memory.ok()) return memory.status();
  uint64_t budget = kMostRead;
  for (int preference = 0; preference <= 2; ++preference) {
    for (const Mapping& mapping : mappings) {
      if (Preference(mapping) != preference) continue;
      const uint64_t address = FindIn(memory->get(), mapping, &budget);
      if (address != 0) return address;
    }
  }
  if (budget == kMostRead) return uint64_t{0};
  // In the middle of an exec the list holds the program but not yet its loader and vdso.
  bool truncated = false;
  const absl::StatusOr<std::vector<Mapping>> now = ReadMappings(host, pid, &truncated);
  if (!now.ok()) return now.status();
  if (!SameExtents(*now, mappings)) return uint64_t{0};
  return absl::UnavailableError("architecture: no syscall instruction in the target's executable memory");
}

}  // namespace mempulse
