#include "exporter/web/http_connection.h"

#include <netinet/in.h>
#include <poll.h>

#include <cerrno>
#include <utility>

namespace mempulse {
namespace {

constexpr size_t kMostDrainedBytes = 256 << 10;

bool WouldBlock() { return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR; }

}  // namespace

int16_t HttpConnection::events() const {
  if (state_ == kWriting) return POLLOUT;
  return state_ == kWaiting ? 0 : POLLIN;
}

void HttpConnection::Advance(int64_t now_nanos, const Answer& answer, const Count& count) {
  if (state_ == kReading) Read(now_nanos);
  TryAnswer(now_nanos, answer, count);
  while (state_ == kWriting) {
    Write(now_nanos);
    if (state_ == kWriting) return;  // the socket is full
    TryAnswer(now_nanos, answer, count);
  }
  if (state_ == kDraining) Drain();
}

void HttpConnection::Complete(HttpReply reply, int64_t now_nanos, const Count& count) {
  if (state_ == kWaiting) StartReply(std::move(reply), now_nanos, count);
}

void HttpConnection::Read(int64_t now_nanos) {
  char chunk[4096];
  while (arrived_.size() < kMostHeadBytes) {
    const ssize_t got = recv(fd_.get(), chunk, sizeof(chunk), 0);
    if (got < 0 && WouldBlock()) return;
    if (got <= 0) {
      state_ = kClosed;
      return;
    }
    if (arrived_.empty()) deadline_nanos_ = std::min(deadline_nanos_, now_nanos + kHeadNanos);
    arrived_.append(chunk, static_cast<size_t>(got));
  }
}

void HttpConnection::TryAnswer(int64_t now_nanos, const Answer& answer, const Count& count) {
  if (state_ != kReading) return;
  RequestHead head = ParseRequestHead(arrived_);
  if (head.state == RequestHead::kIncomplete) return;
  if (head.state == RequestHead::kBad) {
    head_only_ = false;
    close_after_ = drain_after_ = true;
    StartReply(TextReply(head.status, head.reason), now_nanos, count);
    return;
  }
  arrived_.erase(0, head.bytes);
  head_only_ = head.request.method == "HEAD";
  close_after_ = !head.keep_alive || head.has_body;  // bodies are never read, so nothing can follow one
  drain_after_ = head.has_body;
  state_ = kWaiting;
  deadline_nanos_ = now_nanos + kWaitNanos;
  std::optional<HttpReply> reply = answer(head.request);
  if (reply) StartReply(*std::move(reply), now_nanos, count);
}

void HttpConnection::StartReply(HttpReply reply, int64_t now_nanos, const Count& count) {
  count(reply);
  reply_ = std::move(reply);
  head_ = RenderHead(reply_, !close_after_);
  sent_ = 0;
  state_ = kWriting;
  deadline_nanos_ = now_nanos + kReplyNanos;
}

bool HttpConnection::SendSome(absl::string_view bytes, bool more) {
  const ssize_t sent = send(fd_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL | (more ? MSG_MORE : 0));
  if (sent < 0 && !WouldBlock()) state_ = kClosed;
  if (sent > 0) sent_ += static_cast<size_t>(sent);
  return sent > 0;
}

void HttpConnection::Write(int64_t now_nanos) {
  const absl::string_view body = head_only_ ? absl::string_view() : absl::string_view(*reply_.body);
  while (sent_ < head_.size()) {
    if (!SendSome(absl::string_view(head_).substr(sent_), !body.empty())) return;
  }
  while (sent_ < head_.size() + body.size()) {
    if (!SendSome(body.substr(sent_ - head_.size()), false)) return;
  }
  FinishReply(now_nanos);
}

void HttpConnection::FinishReply(int64_t now_nanos) {
  reply_ = HttpReply();  // gives the snapshot and the scrape slot back
  if (!close_after_) {
    state_ = kReading;
    deadline_nanos_ = now_nanos + (arrived_.empty() ? kIdleNanos : kHeadNanos);
  } else if (drain_after_) {
    // Closing with unread bytes would reset the connection, and the client could lose the reply.
    shutdown(fd_.get(), SHUT_WR);
    state_ = kDraining;
    deadline_nanos_ = now_nanos + kDrainNanos;
  } else {
    state_ = kClosed;
  }
}

void HttpConnection::Drain() {
  char chunk[4096];
  while (drained_ < kMostDrainedBytes) {
    const ssize_t got = recv(fd_.get(), chunk, sizeof(chunk), 0);
    if (got < 0 && WouldBlock()) return;
    if (got <= 0) break;
    drained_ += static_cast<size_t>(got);
  }
  state_ = kClosed;
}

}  // namespace mempulse
