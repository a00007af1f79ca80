#pragma once

#include <cmath>
#include <cstdint>

namespace mempulse {

// Decides when a population is due: once per period, late rather than never, so that the mean rate is exact.
// Only who is more than kMaxBehind periods late (descheduled, stopped) gives the older ones up, and counts
// them. Times are nanoseconds of one monotonic clock. Not thread-safe.
class Pacer {
 public:
  static constexpr int64_t kMaxBehind = 2;

  // First due one `phase` (0-1) of a period after `start_nanos`, so that populations do not fire together.
  Pacer(double hertz, int64_t start_nanos, double phase)
      : period_nanos_(1e9 / hertz), origin_nanos_(static_cast<double>(start_nanos) + phase * 1e9 / hertz) {}

  // True when a write is owed; the caller writes once and asks again.
  bool Due(int64_t now_nanos) {
    if (now_nanos < due_nanos()) return false;
    const auto behind = static_cast<int64_t>(static_cast<double>(now_nanos - due_nanos()) / period_nanos_);
    if (behind > kMaxBehind) {
      missed_ += behind;
      next_ += behind;
    }
    ++next_;
    return true;
  }

  int64_t due_nanos() const {
    return std::llround(origin_nanos_ + static_cast<double>(next_) * period_nanos_);
  }
  int64_t missed() const { return missed_; }  // periods given up

 private:
  double period_nanos_;
  double origin_nanos_;
  int64_t next_ = 0;
  int64_t missed_ = 0;
};

}  // namespace mempulse
