#include "collectors/pages/fault_budget.h"

#include <algorithm>

namespace mempulse {
namespace {

constexpr double kBurstSpanSeconds = 0.1;

}  // namespace

FaultBudget::FaultBudget(double total_seconds, double burst_ratio, int64_t now_nanos)
    : total_seconds_(total_seconds),
      burst_ratio_(burst_ratio),
      capacity_seconds_(burst_ratio * kBurstSpanSeconds),
      bucket_seconds_(capacity_seconds_),
      updated_nanos_(now_nanos) {}

double FaultBudget::BucketAt(int64_t now_nanos) const {
  const double elapsed = static_cast<double>(now_nanos - updated_nanos_) * 1e-9;
  return std::min(capacity_seconds_, bucket_seconds_ + elapsed * burst_ratio_);
}

void FaultBudget::Spend(double seconds, int64_t now_nanos) {
  bucket_seconds_ = BucketAt(now_nanos) - seconds;
  updated_nanos_ = now_nanos;
  spent_seconds_ += seconds;
}

int64_t FaultBudget::RefilledAtNanos(int64_t now_nanos) const {
  const double missing = capacity_seconds_ / 2 - BucketAt(now_nanos);
  if (missing <= 0) return now_nanos;
  return now_nanos + static_cast<int64_t>(missing / burst_ratio_ * 1e9);
}

}  // namespace mempulse
