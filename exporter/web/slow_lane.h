#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <stop_token>
#include <thread>
#include <vector>

#include "exporter/web/http_message.h"

namespace mempulse {

// A thread for the one kind of request that may take long, so that nobody else waits for it. Thread-safe.
class SlowLane {
 public:
  struct Done {
    uint64_t ticket = 0;
    HttpReply reply;
  };

  // `wake` is called on the lane's thread whenever something is done.
  explicit SlowLane(std::function<void()> wake);

  // False when it is busy.
  bool Start(uint64_t ticket, std::function<HttpReply()> work);
  std::vector<Done> TakeDone();

 private:
  struct Job {
    uint64_t ticket = 0;
    std::function<HttpReply()> work;
  };
  void Run(const std::stop_token& stop);

  const std::function<void()> wake_;
  std::mutex mutex_;
  std::condition_variable_any wakes_;
  std::optional<Job> job_;  // waiting or running
  std::vector<Done> done_;
  std::jthread thread_;  // last: it uses all of the above
};

}  // namespace mempulse
