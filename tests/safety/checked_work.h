#pragma once

#include <cstdint>

#include "tests/safety/victim.h"

namespace mempulse {

// Work that shows any register, flag or byte that was changed from outside: integer and floating-point sums
// over memory that is written and read back, compared with what they were the first time. Counts rounds and
// errors. Memory of its own, `pages` pages.
class CheckedWork {
 public:
  explicit CheckedWork(uint64_t pages);
  CheckedWork(const CheckedWork&) = delete;
  CheckedWork& operator=(const CheckedWork&) = delete;
  ~CheckedWork();
  void Round(VictimReport* report);

 private:
  uint64_t Sum();

  uint64_t words_;
  uint64_t* memory_;
  uint64_t expected_ = 0;
  uint64_t salt_ = 0;
};

// Rounds until the test says finish. With `sleeping`, in calls that block shortly between rounds, each of
// which counts an EINTR; without, never a system call.
void WorkUntilFinish(VictimReport* report, bool sleeping);

}  // namespace mempulse
