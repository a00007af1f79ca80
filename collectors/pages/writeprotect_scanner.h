#pragma once

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "collectors/pages/page_range.h"
#include "collectors/pages/page_tracker.h"
#include "collectors/pages/pagemap_scan.h"

namespace mempulse {

// What a look must leave out, besides pages that are not present (MADV_DONTNEED) or are the page of zeros
// (read before they were ever written): pages of a private file mapping that are still the file's own. All of
// these look "written" to the kernel, which only knows that they are not protected.
struct ScanRange {
  PageRange range;
  bool private_file = false;
};

// Reads and re-arms write protection with PAGEMAP_SCAN. Large ranges go in pieces, so that a thread of the
// target that waits for its address-space lock gets it in between. Not thread-safe.
//
// Small ranges are asked with the exact mask in one step. On large ones the kernel's fast path is 1.6 times
// faster, so it is taken, and only the runs it reports are asked about again. A page that is discarded and
// one that is written between these two questions are the only ones that can be told wrong, by one look.
class WrittenScanner {
 public:
  explicit WrittenScanner(int pagemap_fd);  // borrowed

  // Appends the written pages; with `reset` every page seen as written is protected in the same step.
  // `written` null: reset only. Errors as ScanPages; after one, part of the ranges may have been reset.
  absl::StatusOr<Instant> Scan(absl::Span<const ScanRange> ranges, bool reset,
                               std::vector<PageRange>* written);

  // Time spent in scans so far, pauses included: an upper bound for how long the target's lock was held.
  double call_seconds() const { return call_seconds_; }

 private:
  struct Segment {  // reported_[first, last) came from one range
    size_t first = 0;
    size_t last = 0;
    bool private_file = false;
    bool exact = false;
  };

  absl::Status ScanPieces(PageRange range, const ScanQuery& query, std::vector<PageRange>* found);
  absl::Status AppendConfirmed(const Segment& segment, std::vector<PageRange>* written);

  int pagemap_fd_;
  std::vector<PageRegion> buffer_;
  std::vector<PageRange> reported_;
  std::vector<Segment> segments_;
  std::vector<PageRange> confirmed_;
  double call_seconds_ = 0;
};

}  // namespace mempulse
