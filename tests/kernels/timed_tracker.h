#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "collectors/pages/page_tracker.h"
#include "tests/kernels/virtual_time.h"

namespace mempulse {

// Any tracker in virtual time: what it finds is the kernel's answer, when it looked is the clock's.
class TimedTracker final : public PageTracker {
 public:
  TimedTracker(std::unique_ptr<PageTracker> tracker, VirtualTime* time)
      : tracker_(std::move(tracker)), time_(time) {}

  TrackerKind kind() const override { return tracker_->kind(); }
  // How long real calls take says nothing here.
  const TrackerTraits& traits() const override;
  absl::StatusOr<Coverage> Cover(absl::Span<const Mapping> mappings, const CoverOptions& options) override {
    return tracker_->Cover(mappings, options);
  }
  absl::StatusOr<Instant> Reset(absl::Span<const PageRange> ranges) override;
  absl::StatusOr<Instant> Look(absl::Span<const PageRange> ranges, std::vector<PageRange>* written) override;
  absl::StatusOr<Instant> LookAndReset(absl::Span<const PageRange> ranges, std::vector<PageRange>* written,
                                       Instant* reset) override;
  absl::Status Glance() override { return tracker_->Glance(); }
  bool LookSpoiled() const override { return tracker_->LookSpoiled(); }
  std::vector<PageRange> Distrusted() override { return tracker_->Distrusted(); }
  ObserverEffect effect() const override { return tracker_->effect(); }

 private:
  Instant Pass();

  std::unique_ptr<PageTracker> tracker_;
  VirtualTime* time_;
  mutable TrackerTraits traits_;
};

}  // namespace mempulse
