#pragma once

#include <cstdint>
#include <stop_token>

#include "absl/time/time.h"

namespace mempulse {

// Time as a parameter: what a unit test replaces so that it never sleeps. Implementations are thread-safe.
class Clock {
 public:
  virtual ~Clock() = default;
  // Wall time, for timestamps that leave the process.
  virtual absl::Time Now() = 0;
  // CLOCK_MONOTONIC in nanoseconds, for windows and deadlines.
  virtual int64_t MonotonicNanos() = 0;
  // Returns at deadline_nanos (MonotonicNanos scale) or, at most 20 ms late, when `stop` was requested; false
  // then. Waits of 100 us and less are spun, longer ones sleep and spin at most the last 60 us when
  // `precise`.
  virtual bool WaitUntil(int64_t deadline_nanos, bool precise, const std::stop_token& stop) = 0;
};

// The kernel's clocks. Sets the calling thread's timer slack to the minimum on its first precise wait.
class SystemClock final : public Clock {
 public:
  absl::Time Now() override;
  int64_t MonotonicNanos() override;
  bool WaitUntil(int64_t deadline_nanos, bool precise, const std::stop_token& stop) override;
};

}  // namespace mempulse
