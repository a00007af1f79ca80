#pragma once

#include <signal.h>

#include <stop_token>
#include <thread>

namespace mempulse {

// Requests a stop when the user interrupts (SIGINT, SIGTERM), until destroyed. One at a time.
class InterruptWatch {
 public:
  InterruptWatch();
  InterruptWatch(const InterruptWatch&) = delete;
  InterruptWatch& operator=(const InterruptWatch&) = delete;

  std::stop_token token() const { return stop_.get_token(); }

 private:
  sigset_t signals_;
  std::stop_source stop_;
  std::jthread thread_;
};

}  // namespace mempulse
