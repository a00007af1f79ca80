#pragma once

#include <cstddef>
#include <cstdint>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "collectors/pages/page_range.h"

// PAGEMAP_SCAN (Linux 6.7): the few definitions that distributions' headers do not have yet, and one thin
// call.
namespace mempulse {

// Bits of ScanQuery's masks and of PageRegion::categories.
enum PageCategory : uint64_t {
  kPageWpAllowed = 1 << 0,  // the mapping is registered for write protection
  kPageWritten = 1 << 1,    // not write-protected; without a registration this only means "populated"
  kPageFile = 1 << 2,       // backed by a file or by shared memory; reading it costs 10x more than the others
  kPagePresent = 1 << 3,
  kPageSwapped = 1 << 4,
  kPageZero = 1 << 5,  // the shared page of zeros: read, never written
  kPageHuge = 1 << 6,
  kPageSoftDirty = 1 << 7,  // rejected by Linux 6.7 and by kernels without soft-dirty
};

enum ScanFlag : uint64_t {
  kScanProtect = 1 << 0,       // write-protects every page that matches, in the same step
  kScanNeedsWpAsync = 1 << 1,  // EPERM when the range holds a mapping without asynchronous write protection
};

// Mirrors the kernel's struct page_region: bytes, [start, end).
struct PageRegion {
  uint64_t start = 0;
  uint64_t end = 0;
  uint64_t categories = 0;
};

// A page matches when (categories ^ inverted) has all bits of `all` and, unless 0, one of `any`.
struct ScanQuery {
  uint64_t flags = 0;
  uint64_t inverted = 0;
  uint64_t all = 0;
  uint64_t any = 0;
  uint64_t returned = 0;   // neighbours that differ only in other bits become one region
  uint64_t max_pages = 0;  // stop after this many matching pages; 0 = no limit
};

struct ScanResult {
  size_t regions = 0;     // filled at the front of the buffer, ascending
  uint64_t walk_end = 0;  // where to go on; range.end when everything was seen
};

// One PAGEMAP_SCAN. Stops early when the buffer is full: call again from walk_end. NotFound when the address
// space is gone (exit, exec). FailedPrecondition when kScanNeedsWpAsync met an unregistered mapping; pages
// before it have been protected already. Unavailable when the kernel lacks the call or a category.
// Thread-safe.
absl::StatusOr<ScanResult> ScanPages(int pagemap_fd, PageRange range, const ScanQuery& query,
                                     absl::Span<PageRegion> buffer);

}  // namespace mempulse
