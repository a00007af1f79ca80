#include "exporter/web/http_server.h"

#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <thread>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "collectors/host/errno_status.h"
#include "collectors/host/unique_fd.h"
#include "exporter/web/address_shares.h"
#include "exporter/web/http_connection.h"
#include "exporter/web/listen_sockets.h"
#include "exporter/web/router.h"
#include "exporter/web/slow_lane.h"

namespace mempulse {
namespace {

constexpr int kPollMilliseconds = 100;  // how late a deadline may be noticed
constexpr int kFewestConnections = 128;
constexpr char kTurnedAway[] =
    "HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\nRetry-After: 1\r\nX-Content-Type-Options: "
    "nosniff\r\n"
    "Connection: close\r\n\r\n";

int64_t MonotonicNanos() {
  timespec now = {};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * int64_t{1'000'000'000} + now.tv_nsec;
}

}  // namespace

// One thread polls all sockets. Everything it serves is in memory, so it never waits for anything else; only
// a reload goes to the slow lane.
class HttpServer::Impl {
 public:
  Impl(WebOptions options, WebHandlers handlers, std::vector<ListenSocket> listeners, UniqueFd wake_read,
       UniqueFd wake_write)
      : shares_(options.max_connections_per_address, std::max({kFewestConnections, 2 * options.max_requests,
                                                               2 * options.max_connections_per_address})),
        router_(std::move(options), std::move(handlers)),
        listeners_(std::move(listeners)),
        wake_read_(std::move(wake_read)),
        wake_write_(std::move(wake_write)),
        lane_([this] { Wake(); }),
        loop_([this](const std::stop_token& stop) { Run(stop); }) {}

  ~Impl() { Stop(); }

  void Stop() {
    if (!loop_.joinable()) return;
    loop_.request_stop();
    Wake();
    loop_.join();
  }

  std::vector<int> ports() const {
    std::vector<int> ports;
    for (const ListenSocket& listener : listeners_) ports.push_back(listener.port);
    return ports;
  }

  HttpCounts counts() const {
    absl::MutexLock lock(&mutex_);
    return counts_;
  }

 private:
  void Wake() { (void)!write(wake_write_.get(), "x", 1); }
  void Run(const std::stop_token& stop);
  void Poll();
  void AcceptAll(int listener);
  void Admit(UniqueFd client, const std::string& address, int64_t now_nanos);
  void Advance(uint64_t ticket, HttpConnection* connection, int64_t now_nanos);
  void DeliverDone(int64_t now_nanos);
  void CloseFinished(int64_t now_nanos);
  std::optional<HttpReply> AnswerOrDefer(uint64_t ticket, const HttpRequest& request);
  void CountReply(const HttpReply& reply) {
    absl::MutexLock lock(&mutex_);
    ++counts_.requests[{reply.handler, reply.status}];
  }
  void CountRefusal(ConnectionRefusal why) {
    absl::MutexLock lock(&mutex_);
    ++counts_.refused[static_cast<size_t>(why)];
  }

  AddressShares shares_;
  Router router_;
  std::vector<ListenSocket> listeners_;
  const UniqueFd wake_read_;
  const UniqueFd wake_write_;
  std::map<uint64_t, HttpConnection> connections_;
  uint64_t last_ticket_ = 0;
  bool out_of_descriptors_ = false;
  mutable absl::Mutex mutex_;
  HttpCounts counts_ ABSL_GUARDED_BY(mutex_);
  SlowLane lane_;
  std::jthread loop_;  // last: it uses all of the above
};

void HttpServer::Impl::Run(const std::stop_token& stop) {
  while (!stop.stop_requested()) Poll();
  connections_.clear();
  for (ListenSocket& listener : listeners_) listener.fd.Reset();
}

void HttpServer::Impl::Poll() {
  std::vector<pollfd> wanted = {{wake_read_.get(), POLLIN, 0}};
  // Without a free descriptor accept fails at once, again and again: it waits for the next turn then.
  const int16_t accepting = out_of_descriptors_ ? 0 : POLLIN;
  out_of_descriptors_ = false;
  for (const ListenSocket& listener : listeners_) wanted.push_back({listener.fd.get(), accepting, 0});
  const size_t first_connection = wanted.size();
  for (const auto& [ticket, connection] : connections_)
    wanted.push_back({connection.fd(), connection.events(), 0});
  poll(wanted.data(), wanted.size(), kPollMilliseconds);

  const int64_t now_nanos = MonotonicNanos();
  char woken[64];
  while (read(wake_read_.get(), woken, sizeof(woken)) > 0) {
  }
  DeliverDone(now_nanos);
  size_t at = first_connection;
  for (auto& [ticket, connection] : connections_) {
    if (wanted[at++].revents != 0) Advance(ticket, &connection, now_nanos);
  }
  for (size_t i = 1; i < first_connection; ++i) {
    if (wanted[i].revents != 0) AcceptAll(wanted[i].fd);
  }
  CloseFinished(now_nanos);
}

void HttpServer::Impl::AcceptAll(int listener) {
  for (;;) {
    sockaddr_storage peer = {};
    socklen_t length = sizeof(peer);
    UniqueFd client(
        accept4(listener, reinterpret_cast<sockaddr*>(&peer), &length, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (!client.valid()) {
      out_of_descriptors_ |= errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM;
      if (errno == ECONNABORTED || errno == EINTR) continue;
      return;
    }
    char text[NI_MAXHOST] = {};
    if (getnameinfo(reinterpret_cast<const sockaddr*>(&peer), length, text, sizeof(text), nullptr, 0,
                    NI_NUMERICHOST) == 0) {
      Admit(std::move(client), AddressKey(text), MonotonicNanos());
    }
  }
}

void HttpServer::Impl::Admit(UniqueFd client, const std::string& address, int64_t now_nanos) {
  bool admitted = shares_.Enter(address);
  if (!admitted) {
    // A client that comes back the moment it has its answer finds the connection before still counted.
    CloseFinished(now_nanos);
    admitted = shares_.Enter(address);
  }
  if (!admitted) {
    CountRefusal(ConnectionRefusal::kAddressLimit);
    (void)send(client.get(), kTurnedAway, sizeof(kTurnedAway) - 1, MSG_DONTWAIT | MSG_NOSIGNAL);
    return;
  }
  const int on = 1;
  setsockopt(client.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
  const uint64_t ticket = ++last_ticket_;
  const auto at = connections_.try_emplace(ticket, std::move(client), address, now_nanos).first;
  Advance(ticket, &at->second, now_nanos);  // the request is often there already
}

void HttpServer::Impl::Advance(uint64_t ticket, HttpConnection* connection, int64_t now_nanos) {
  connection->Advance(
      now_nanos, [this, ticket](const HttpRequest& request) { return AnswerOrDefer(ticket, request); },
      [this](const HttpReply& reply) { CountReply(reply); });
}

std::optional<HttpReply> HttpServer::Impl::AnswerOrDefer(uint64_t ticket, const HttpRequest& request) {
  if (!router_.MayTakeLong(request)) return router_.Answer(request);
  if (lane_.Start(ticket, [this, request] { return router_.Answer(request); })) return std::nullopt;
  return TextReply(503, "a reload is running already");
}

void HttpServer::Impl::DeliverDone(int64_t now_nanos) {
  for (SlowLane::Done& done : lane_.TakeDone()) {
    const auto at = connections_.find(done.ticket);
    if (at == connections_.end()) continue;
    at->second.Complete(std::move(done.reply), now_nanos,
                        [this](const HttpReply& reply) { CountReply(reply); });
  }
}

void HttpServer::Impl::CloseFinished(int64_t now_nanos) {
  for (auto at = connections_.begin(); at != connections_.end();) {
    const HttpConnection& connection = at->second;
    const bool overdue = connection.deadline_nanos() < now_nanos;
    if (!connection.closed() && !overdue) {
      ++at;
      continue;
    }
    if (!connection.closed()) CountRefusal(ConnectionRefusal::kOverdue);
    shares_.Leave(connection.address_key());
    at = connections_.erase(at);
  }
}

absl::StatusOr<std::unique_ptr<HttpServer>> HttpServer::Create(WebOptions options, WebHandlers handlers) {
  absl::StatusOr<std::vector<ListenSocket>> listeners = OpenListenSockets(options.listen_addresses);
  if (!listeners.ok()) return listeners.status();
  int wake[2] = {-1, -1};
  if (pipe2(wake, O_CLOEXEC | O_NONBLOCK) != 0) return ErrnoStatus("pipe2", "");
  return std::unique_ptr<HttpServer>(new HttpServer(std::make_unique<Impl>(
      std::move(options), std::move(handlers), *std::move(listeners), UniqueFd(wake[0]), UniqueFd(wake[1]))));
}

HttpServer::HttpServer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
HttpServer::~HttpServer() = default;
void HttpServer::Stop() { impl_->Stop(); }
std::vector<int> HttpServer::ports() const { return impl_->ports(); }
HttpCounts HttpServer::counts() const { return impl_->counts(); }

}  // namespace mempulse
