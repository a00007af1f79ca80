#include "collectors/host/clock.h"

#include <sys/prctl.h>
#include <time.h>

#include <algorithm>

#include "absl/time/clock.h"

namespace mempulse {
namespace {

constexpr int64_t kSpinNanos = 60'000;
constexpr int64_t kSpinWholeNanos = 100'000;
constexpr int64_t kStopPollNanos = 20'000'000;

void Relax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

void MinimiseTimerSlackOnce() {
  thread_local const int result = prctl(PR_SET_TIMERSLACK, 1, 0, 0, 0);
  static_cast<void>(result);
}

}  // namespace

absl::Time SystemClock::Now() { return absl::Now(); }

int64_t SystemClock::MonotonicNanos() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1'000'000'000LL + now.tv_nsec;
}

bool SystemClock::WaitUntil(int64_t deadline_nanos, bool precise, const std::stop_token& stop) {
  if (precise) MinimiseTimerSlackOnce();
  for (;;) {
    if (stop.stop_requested()) return false;
    const int64_t left = deadline_nanos - MonotonicNanos();
    if (left <= 0) return true;
    if (precise && left <= kSpinWholeNanos) break;
    const int64_t sleep = std::min(precise ? left - kSpinNanos : left, kStopPollNanos);
    const timespec request{sleep / 1'000'000'000, sleep % 1'000'000'000};
    nanosleep(&request, nullptr);
  }
  while (MonotonicNanos() < deadline_nanos) Relax();
  return true;
}

}  // namespace mempulse
