#include "collectors/pages/pagemap.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "collectors/host/errno_status.h"

namespace mempulse {

absl::StatusOr<Pagemap> Pagemap::Open(const Host& host, pid_t pid) {
  absl::StatusOr<UniqueFd> fd = host.Open(host.ProcPath(pid, "pagemap"), O_RDONLY);
  if (!fd.ok()) return fd.status();
  return Pagemap(std::move(*fd));
}

absl::Status Pagemap::Read(uint64_t start, absl::Span<uint64_t> entries) const {
  char* out = reinterpret_cast<char*>(entries.data());
  size_t left = entries.size() * sizeof(uint64_t);
  uint64_t offset = start / kPageSize * sizeof(uint64_t);
  while (left > 0) {
    const ssize_t got = pread(fd_.get(), out, left, static_cast<off_t>(offset));
    if (got < 0) {
      if (errno == EINTR) continue;
      return ErrnoStatus("read", "pagemap");
    }
    // The kernel answers "end of file" once the address space has no user left, and beyond its end.
    if (got == 0) return absl::NotFoundError("pagemap: the address space is gone");
    out += got;
    left -= static_cast<size_t>(got);
    offset += static_cast<uint64_t>(got);
  }
  return absl::OkStatus();
}

void AppendPage(uint64_t address, size_t first, std::vector<PageRange>* ranges) {
  if (ranges->size() > first && ranges->back().end == address) {
    ranges->back().end += kPageSize;
    return;
  }
  ranges->push_back({address, address + kPageSize});
}

}  // namespace mempulse
