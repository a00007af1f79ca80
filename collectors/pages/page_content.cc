#include "collectors/pages/page_content.h"

#include <fcntl.h>
#include <unistd.h>
#include <xxhash.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "collectors/host/errno_status.h"

namespace mempulse {

absl::StatusOr<std::unique_ptr<PageContent>> PageContent::Open(const Host& host, pid_t pid) {
  absl::StatusOr<Pagemap> pagemap = Pagemap::Open(host, pid);
  if (!pagemap.ok()) return pagemap.status();
  absl::StatusOr<UniqueFd> memory = host.Open(host.ProcPath(pid, "mem"), O_RDONLY);
  if (!memory.ok()) return memory.status();
  return std::unique_ptr<PageContent>(new PageContent(*std::move(pagemap), *std::move(memory)));
}

PageContent::PageContent(Pagemap pagemap, UniqueFd memory)
    : pagemap_(std::move(pagemap)), memory_(std::move(memory)), bytes_(kPageSize) {}

absl::StatusOr<std::vector<uint64_t>> PageContent::Hash(absl::Span<const PageRange> ranges) {
  std::vector<uint64_t> hashes;
  for (const PageRange& range : ranges) {
    for (uint64_t address = range.start; address < range.end; address += kPageSize) {
      const absl::StatusOr<uint64_t> hash = HashPage(address);
      if (!hash.ok()) return hash.status();
      hashes.push_back(*hash);
    }
  }
  return hashes;
}

absl::StatusOr<uint64_t> PageContent::HashPage(uint64_t address) {
  // A read of an absent page would populate it.
  uint64_t entry = 0;
  if (absl::Status status = pagemap_.Read(address, absl::MakeSpan(&entry, 1)); !status.ok()) return status;
  if ((entry & kEntryPresent) == 0) return kNoContent;
  const ssize_t got = pread(memory_.get(), bytes_.data(), kPageSize, static_cast<off_t>(address));
  if (got == 0) return absl::NotFoundError("mem: the address space is gone");
  if (got < 0 && errno != EIO && errno != EFAULT && errno != EINTR) return ErrnoStatus("read", "mem");
  if (got != static_cast<ssize_t>(kPageSize)) return kNoContent;
  if (std::all_of(bytes_.begin(), bytes_.end(), [](char byte) { return byte == 0; })) return kNoContent;
  return std::max<uint64_t>(XXH3_64bits(bytes_.data(), kPageSize), kNoContent + 1);
}

}  // namespace mempulse
