#include "tests/kernels/virtual_time.h"

#include <algorithm>

namespace mempulse {
namespace {

constexpr int64_t kAskNanos = 50;  // what reading a clock takes

}  // namespace

void VirtualTime::AdvanceTo(int64_t nanos) {
  if (flat_out_due_) {
    for (const auto& [address, pages] : flat_out_) puppet_->Write(address, pages);
    flat_out_due_ = false;
  }
  const auto earlier = [](const Event& a, const Event& b) { return a.due_nanos < b.due_nanos; };
  while (!events_.empty()) {
    const auto first = std::min_element(events_.begin(), events_.end(), earlier);
    if (first->due_nanos > nanos) break;
    first->act();
    if (first->period_nanos > 0) {
      first->due_nanos += first->period_nanos;
    } else {
      events_.erase(first);
    }
  }
  nanos_ = std::max(nanos_, nanos);
}

int64_t VirtualTime::MonotonicNanos() {
  Advance(kAskNanos);
  return nanos_;
}

bool VirtualTime::WaitUntil(int64_t deadline_nanos, bool, const std::stop_token& stop) {
  if (stop.stop_requested()) return false;
  AdvanceTo(deadline_nanos);
  return true;
}

absl::Status TimedSoftDirty::Clear() {
  time_->Advance(costs_.gap_nanos);
  absl::Status status = ForwardingSoftDirty::Clear();
  time_->NoteClear();
  time_->Advance(costs_.clear_nanos - costs_.gap_nanos);
  return status;
}

absl::Status TimedSoftDirty::ReadEntries(uint64_t start, absl::Span<uint64_t> entries) {
  absl::Status status = ForwardingSoftDirty::ReadEntries(start, entries);
  time_->Advance(costs_.read_nanos);
  return status;
}

absl::StatusOr<std::vector<Mapping>> TimedSoftDirty::ReadMappings() {
  if (!mappings_.empty()) return mappings_;
  absl::StatusOr<std::vector<Mapping>> read = ForwardingSoftDirty::ReadMappings();
  if (read.ok()) mappings_ = *read;
  return read;
}

absl::Status TimedSoftDirty::ScanDirty(const PageRange& range, std::vector<PageRange>* dirty) {
  absl::Status status = ForwardingSoftDirty::ScanDirty(range, dirty);
  time_->Advance(costs_.read_nanos);
  return status;
}

}  // namespace mempulse
