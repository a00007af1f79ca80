#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "collectors/host/host.h"
#include "collectors/host/unique_fd.h"
#include "collectors/pages/page_range.h"
#include "collectors/pages/pagemap.h"

namespace mempulse {

// What a page's content is worth in a comparison of two moments.
inline constexpr uint64_t kNoContent =
    0;  // absent, swapped, unreadable, or all zeros (which a discarded page reads too)

// Hashes single pages of a process as they are now. Reads /proc/PID/mem, present pages only; changes nothing
// in the target. Meant for a few dozen pages: it asks the kernel about each. Not thread-safe.
class PageContent {
 public:
  // Unavailable: the kernel does not let us read this process's memory.
  static absl::StatusOr<std::unique_ptr<PageContent>> Open(const Host& host, pid_t pid);

  // One word a page, in order: its hash or kNoContent. NotFound: the process is gone.
  absl::StatusOr<std::vector<uint64_t>> Hash(absl::Span<const PageRange> ranges);

 private:
  PageContent(Pagemap pagemap, UniqueFd memory);
  absl::StatusOr<uint64_t> HashPage(uint64_t address);

  Pagemap pagemap_;
  UniqueFd memory_;
  std::vector<char> bytes_;
};

}  // namespace mempulse
