#include "exporter/web/slow_lane.h"

#include <utility>

namespace mempulse {

SlowLane::SlowLane(std::function<void()> wake)
    : wake_(std::move(wake)), thread_([this](const std::stop_token& stop) { Run(stop); }) {}

bool SlowLane::Start(uint64_t ticket, std::function<HttpReply()> work) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (job_) return false;
  job_ = Job{ticket, std::move(work)};
  wakes_.notify_all();
  return true;
}

std::vector<SlowLane::Done> SlowLane::TakeDone() {
  const std::lock_guard<std::mutex> lock(mutex_);
  return std::exchange(done_, {});
}

void SlowLane::Run(const std::stop_token& stop) {
  std::unique_lock<std::mutex> lock(mutex_);
  while (wakes_.wait(lock, stop, [this] { return job_.has_value(); })) {
    const Job job = *job_;
    lock.unlock();
    HttpReply reply = job.work();
    lock.lock();
    done_.push_back({job.ticket, std::move(reply)});
    job_.reset();
    wake_();
  }
}

}  // namespace mempulse
