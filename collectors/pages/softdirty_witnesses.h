#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "collectors/pages/page_range.h"
#include "collectors/pages/softdirty_kernel.h"

namespace mempulse {

// Notices that somebody else clears the soft-dirty bits of the target. A page that only the target maps, has
// been written and reads dirty can lose its bit by a clear alone: what madvise or a fork puts in its place is
// the shared page of zeros or a page with two owners. So pages that are written now and then are read in the
// middle of a window and once more at its end. Not thread-safe.
class ClearWitnesses {
 public:
  explicit ClearWitnesses(SoftDirtyKernel* kernel) : kernel_(kernel) {}

  // Pages that a look found written: some become candidates.
  void Note(absl::Span<const PageRange> written);
  // In the middle of a window: which candidates are dirty by now.
  absl::Status Watch();
  // At its end, before our own clear: true when one of those has lost its bit.
  absl::StatusOr<bool> Check();
  // Our own clear: whatever was being watched says nothing any more.
  void Restart() { watched_.clear(); }

  // Losses among the last few hundred windows that were watched. One may be a checkpoint; several are
  // somebody who does what we do.
  int losses() const { return losses_; }

 private:
  SoftDirtyKernel* kernel_;
  std::vector<uint64_t> candidates_;
  size_t next_candidate_ = 0;  // which is replaced by the next new one
  std::vector<uint64_t> watched_;
  int losses_ = 0;
  int windows_without_loss_ = 0;
};

}  // namespace mempulse
