#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "absl/strings/string_view.h"
#include "collectors/host/unique_fd.h"
#include "exporter/web/http_message.h"
#include "exporter/web/request_head.h"

namespace mempulse {

// One client on a non-blocking socket: reads a head, has it answered, writes the reply, and again. Never
// waits; the owner polls for events() and calls Advance when they come, and closes it at the deadline. Not
// thread-safe. Times are CLOCK_MONOTONIC nanoseconds.
class HttpConnection {
 public:
  static constexpr int64_t kHeadNanos =
      2'000'000'000;  // from the first byte (or the connection) to a whole head
  static constexpr int64_t kIdleNanos = 60'000'000'000;   // between requests
  static constexpr int64_t kReplyNanos = 10'000'000'000;  // to write a reply
  static constexpr int64_t kDrainNanos =
      1'000'000'000;  // to swallow what a client still sends after its last reply
  static constexpr int64_t kWaitNanos = 60'000'000'000;  // for an answer that comes later

  // Nothing: the answer comes later, through Complete.
  using Answer = std::function<std::optional<HttpReply>(const HttpRequest&)>;
  using Count = std::function<void(const HttpReply&)>;  // called once a reply, also for heads that are bad

  HttpConnection(UniqueFd fd, std::string address_key, int64_t now_nanos)
      : fd_(std::move(fd)), address_key_(std::move(address_key)), deadline_nanos_(now_nanos + kHeadNanos) {}

  void Advance(int64_t now_nanos, const Answer& answer, const Count& count);
  void Complete(HttpReply reply, int64_t now_nanos, const Count& count);

  int fd() const { return fd_.get(); }
  int16_t events() const;  // of poll(2)
  bool closed() const { return state_ == kClosed; }
  int64_t deadline_nanos() const { return deadline_nanos_; }
  const std::string& address_key() const { return address_key_; }

 private:
  enum State { kReading, kWaiting, kWriting, kDraining, kClosed };

  void Read(int64_t now_nanos);
  void TryAnswer(int64_t now_nanos, const Answer& answer, const Count& count);
  void StartReply(HttpReply reply, int64_t now_nanos, const Count& count);
  void Write(int64_t now_nanos);
  bool SendSome(absl::string_view bytes, bool more);
  void FinishReply(int64_t now_nanos);
  void Drain();

  UniqueFd fd_;
  const std::string address_key_;
  int64_t deadline_nanos_;
  State state_ = kReading;
  std::string arrived_;  // not yet part of an answered request
  bool head_only_ = false;
  bool close_after_ = false;
  bool drain_after_ = false;
  HttpReply reply_;
  std::string head_;
  size_t sent_ = 0;  // of head_ and body together
  size_t drained_ = 0;
};

}  // namespace mempulse
