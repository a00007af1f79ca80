#include "collectors/pages/pagemap_scan.h"

#include <sys/ioctl.h>

#include <cerrno>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "collectors/host/errno_status.h"

namespace mempulse {
namespace {

// Mirrors the kernel's struct pm_scan_arg; not named like it, because newer headers have that name.
struct ScanArguments {
  uint64_t size;
  uint64_t flags;
  uint64_t start;
  uint64_t end;
  uint64_t walk_end;
  uint64_t vec;
  uint64_t vec_len;
  uint64_t max_pages;
  uint64_t category_inverted;
  uint64_t category_mask;
  uint64_t category_anyof_mask;
  uint64_t return_mask;
};
static_assert(sizeof(ScanArguments) == 96, "the kernel checks the size");

constexpr unsigned long kScanRequest = _IOWR('f', 16, ScanArguments);

}  // namespace

absl::StatusOr<ScanResult> ScanPages(int pagemap_fd, PageRange range, const ScanQuery& query,
                                     absl::Span<PageRegion> buffer) {
  ScanArguments arguments{};
  arguments.size = sizeof(arguments);
  arguments.flags = query.flags;
  arguments.start = range.start;
  arguments.end = range.end;
  arguments.vec = reinterpret_cast<uint64_t>(buffer.data());
  arguments.vec_len = buffer.size();
  arguments.max_pages = query.max_pages;
  arguments.category_inverted = query.inverted;
  arguments.category_mask = query.all;
  arguments.category_anyof_mask = query.any;
  arguments.return_mask = query.returned;
  const int regions = ioctl(pagemap_fd, kScanRequest, &arguments);
  if (regions >= 0) return ScanResult{static_cast<size_t>(regions), arguments.walk_end};
  const int error = errno;
  if (error == EPERM && (query.flags & kScanNeedsWpAsync) != 0) {
    return absl::FailedPreconditionError(absl::StrCat("a mapping in ", absl::Hex(range.start), "-",
                                                      absl::Hex(range.end), " is not registered"));
  }
  return ErrnoStatus("ioctl", "PAGEMAP_SCAN", error);
}

}  // namespace mempulse
