#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace mempulse {

// One system call in which a target may be blocked when it is attached to.
struct BlockingCall {
  std::string name;
  // Runs in the test before the fork; makes what call and wake share.
  std::function<void(int* shared)> prepare;
  // The call itself, in the victim: what the kernel returned, -1 with errno.
  std::function<int64_t(const int* shared)> call;
  // Ends the call from outside; empty: it ends by its own timeout after kBlockedMicros.
  std::function<void(const int* shared, int victim)> wake;
  int64_t expected = 0;
  int expected_errno = 0;
};

inline constexpr int64_t kBlockedMicros = 1'000'000;

// Every call the facts about interrupted system calls name.
std::vector<BlockingCall> AllBlockingCalls();

}  // namespace mempulse
