#include "tests/kernels/timed_tracker.h"

namespace mempulse {
namespace {

constexpr int64_t kCallNanos = 20'000;
constexpr int64_t kShortestNanos = 250'000;

}  // namespace

const TrackerTraits& TimedTracker::traits() const {
  traits_ = tracker_->traits();
  traits_.shortest_window_nanos = kShortestNanos;
  return traits_;
}

// The bits are asked, or cleared, at the begin; time goes by afterwards.
Instant TimedTracker::Pass() {
  Instant instant;
  instant.begin_nanos = time_->nanos();
  time_->Advance(kCallNanos);
  instant.end_nanos = time_->nanos();
  return instant;
}

absl::StatusOr<Instant> TimedTracker::Reset(absl::Span<const PageRange> ranges) {
  const absl::StatusOr<Instant> done = tracker_->Reset(ranges);
  if (!done.ok()) return done;
  time_->NoteClear();
  return Pass();
}

absl::StatusOr<Instant> TimedTracker::Look(absl::Span<const PageRange> ranges,
                                           std::vector<PageRange>* written) {
  const absl::StatusOr<Instant> done = tracker_->Look(ranges, written);
  return done.ok() ? absl::StatusOr<Instant>(Pass()) : done;
}

absl::StatusOr<Instant> TimedTracker::LookAndReset(absl::Span<const PageRange> ranges,
                                                   std::vector<PageRange>* written, Instant* reset) {
  const absl::StatusOr<Instant> done = tracker_->LookAndReset(ranges, written, reset);
  if (!done.ok()) return done;
  time_->NoteClear();
  const Instant looked = Pass();
  *reset = looked;
  return looked;
}

}  // namespace mempulse
