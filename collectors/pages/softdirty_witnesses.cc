#include "collectors/pages/softdirty_witnesses.h"

#include <algorithm>

#include "collectors/pages/pagemap.h"

namespace mempulse {
namespace {

constexpr size_t kMostCandidates = 64;
constexpr size_t kNotedPerLook = 8;
constexpr int kWindowsToForget = 300;

// Written at some time, and nobody else's: neither the page of zeros, nor of a file, nor shared by a fork.
bool IsOwnPage(uint64_t entry) {
  return (entry & kEntryPresent) != 0 && (entry & kEntryExclusive) != 0 && (entry & kEntryFileOrShared) == 0;
}

}  // namespace

void ClearWitnesses::Note(absl::Span<const PageRange> written) {
  const size_t step = std::max<size_t>(1, written.size() / kNotedPerLook);
  for (size_t i = 0; i < written.size(); i += step) {
    // The middle of a range: its ends are the likeliest to be the neighbours of something else.
    const uint64_t page = written[i].start + written[i].pages() / 2 * kPageSize;
    if (std::find(candidates_.begin(), candidates_.end(), page) != candidates_.end()) continue;
    if (candidates_.size() < kMostCandidates) {
      candidates_.push_back(page);
    } else {
      candidates_[next_candidate_++ % kMostCandidates] = page;
    }
  }
}

absl::Status ClearWitnesses::Watch() {
  watched_.clear();
  for (const uint64_t page : candidates_) {
    uint64_t entry = 0;
    if (absl::Status status = kernel_->ReadEntries(page, absl::MakeSpan(&entry, 1)); !status.ok()) {
      return status;
    }
    if (IsOwnPage(entry) && (entry & kEntrySoftDirty) != 0) watched_.push_back(page);
  }
  return absl::OkStatus();
}

absl::StatusOr<bool> ClearWitnesses::Check() {
  if (watched_.empty()) return false;
  bool lost = false;
  for (const uint64_t page : watched_) {
    uint64_t entry = 0;
    if (absl::Status status = kernel_->ReadEntries(page, absl::MakeSpan(&entry, 1)); !status.ok()) {
      return status;
    }
    lost |= IsOwnPage(entry) && (entry & kEntrySoftDirty) == 0;
  }
  watched_.clear();
  if (lost) {
    ++losses_;
    windows_without_loss_ = 0;
  } else if (++windows_without_loss_ >= kWindowsToForget) {
    losses_ = 0;
  }
  return lost;
}

}  // namespace mempulse
