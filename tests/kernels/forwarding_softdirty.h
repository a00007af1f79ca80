#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "collectors/pages/softdirty_kernel.h"

namespace mempulse {

// Hands every call on to another kernel: what a check changes it overrides.
class ForwardingSoftDirty : public SoftDirtyKernel {
 public:
  explicit ForwardingSoftDirty(std::unique_ptr<SoftDirtyKernel> kernel) : kernel_(std::move(kernel)) {}

  absl::Status Clear() override { return kernel_->Clear(); }
  absl::Status ReadEntries(uint64_t start, absl::Span<uint64_t> entries) override {
    return kernel_->ReadEntries(start, entries);
  }
  absl::Status ScanDirty(const PageRange& range, std::vector<PageRange>* dirty) override {
    return kernel_->ScanDirty(range, dirty);
  }
  bool scans() const override { return kernel_->scans(); }
  absl::StatusOr<std::vector<Mapping>> ReadMappings() override { return kernel_->ReadMappings(); }
  absl::StatusOr<PresentPages> FindPresent(const Mapping& mapping) override {
    return kernel_->FindPresent(mapping);
  }
  int64_t MonotonicNanos() override { return kernel_->MonotonicNanos(); }

 private:
  std::unique_ptr<SoftDirtyKernel> kernel_;
};

}  // namespace mempulse
