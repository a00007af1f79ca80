#include "collectors/host/process_cpu.h"

#include <time.h>

#include "absl/strings/str_cat.h"
#include "collectors/host/errno_status.h"

namespace mempulse {
namespace {

int64_t NanosOf(const timespec& time) { return time.tv_sec * 1'000'000'000LL + time.tv_nsec; }

}  // namespace

absl::StatusOr<int64_t> ProcessCpuNanos(pid_t pid) {
  clockid_t clock = 0;
  if (const int error = clock_getcpuclockid(pid, &clock); error != 0) {
    return ErrnoStatus("clock_getcpuclockid", absl::StrCat(pid), error);
  }
  timespec time{};
  // A process that ended between the two calls makes the clock id invalid.
  if (clock_gettime(clock, &time) != 0) return ErrnoStatus("clock_gettime", absl::StrCat(pid), ESRCH);
  return NanosOf(time);
}

int64_t ThreadCpuNanos() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return NanosOf(time);
}

}  // namespace mempulse
