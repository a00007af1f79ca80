#pragma once

#include <sys/types.h>

#include <cstdint>
#include <tuple>
#include <utility>

namespace mempulse {

// A process that cannot be confused with a later one of the same number: pid plus field 22 of /proc/PID/stat.
struct ProcessId {
  pid_t pid = 0;
  uint64_t start_time_ticks = 0;  // clock ticks since boot

  friend bool operator==(const ProcessId& a, const ProcessId& b) {
    return a.pid == b.pid && a.start_time_ticks == b.start_time_ticks;
  }
  friend bool operator<(const ProcessId& a, const ProcessId& b) {
    return std::tie(a.pid, a.start_time_ticks) < std::tie(b.pid, b.start_time_ticks);
  }
  template <typename H>
  friend H AbslHashValue(H h, const ProcessId& id) {
    return H::combine(std::move(h), id.pid, id.start_time_ticks);
  }
};

}  // namespace mempulse
