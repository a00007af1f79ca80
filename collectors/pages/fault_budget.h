#pragma once

#include <cstdint>

namespace mempulse {

// How much of the target's CPU time the sweep may take: a total for the sweep and a bucket that fills at
// `burst_ratio` of one CPU and holds 100 ms of that. Times are monotonic nanoseconds, costs seconds. Not
// thread-safe.
class FaultBudget {
 public:
  FaultBudget(double total_seconds, double burst_ratio, int64_t now_nanos);

  void Spend(double seconds, int64_t now_nanos);
  double spent() const { return spent_seconds_; }
  double left() const { return total_seconds_ - spent_seconds_; }
  // True while the bucket is not overdrawn.
  bool MayLook(int64_t now_nanos) const { return BucketAt(now_nanos) > 0; }
  // When the bucket will hold half of what it can: the end of a pause.
  int64_t RefilledAtNanos(int64_t now_nanos) const;

 private:
  double BucketAt(int64_t now_nanos) const;

  double total_seconds_;
  double burst_ratio_;
  double capacity_seconds_;
  double bucket_seconds_;
  int64_t updated_nanos_;
  double spent_seconds_ = 0;
};

}  // namespace mempulse
