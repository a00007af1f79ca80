#include "exporter/web/http_server.h"

#include <civetweb.h>
#include <time.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <exception>
#include <map>
#include <mutex>
#include <stop_token>
#include <thread>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/synchronization/mutex.h"
#include "exporter/web/connection_gate.h"
#include "exporter/web/http_message.h"
#include "exporter/web/listen_entries.h"
#include "exporter/web/open_sockets.h"
#include "exporter/web/router.h"

namespace mempulse {
namespace {

constexpr int64_t kMillisecond = 1'000'000;
constexpr int64_t kHeadNanos =
    3000 * kMillisecond;  // from the connection, or the last reply, to a whole request
constexpr int64_t kReplyNanos = 10000 * kMillisecond;  // from a whole request to the last byte of its reply
constexpr std::chrono::milliseconds kCutInterval(250);
constexpr int kFewestThreads = 64;
constexpr char kTurnedAway[] =
    "HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\nRetry-After: 1\r\nX-Content-Type-Options: "
    "nosniff\r\n"
    "Connection: close\r\n\r\n";

int64_t MonotonicNanos() {
  timespec now = {};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * int64_t{1'000'000'000} + now.tv_nsec;
}

std::string OrEmpty(const char* text) { return text == nullptr ? "" : text; }

// civetweb decides by the same rule, and only it closes: this says it to the client.
bool KeepsAlive(const mg_connection* connection, const mg_request_info& info) {
  const char* header = mg_get_header(connection, "Connection");
  if (header != nullptr) return absl::StrContains(absl::AsciiStrToLower(header), "keep-alive");
  return OrEmpty(info.http_version) == "1.1";
}

bool HasBody(const mg_connection* connection, const mg_request_info& info) {
  return info.content_length > 0 || mg_get_header(connection, "Transfer-Encoding") != nullptr;
}

ConnectionGate::Key KeyOf(const mg_request_info& info) {
  return {info.remote_addr, info.remote_port, info.server_port};
}

}  // namespace

class HttpServer::Impl {
 public:
  Impl(WebOptions options, WebHandlers handlers)
      : threads_(
            std::max({kFewestThreads, options.max_requests + 24, 2 * options.max_connections_per_address})),
        gate_(options.max_connections_per_address, threads_,
              {[this] { return ListConnections(ports_copy()); },
               [](int fd, bool turned_away) { ShutDownSocket(fd, turned_away ? kTurnedAway : ""); }}),
        router_(std::move(options), std::move(handlers)) {}

  ~Impl() { Stop(); }

  absl::Status Start(const std::vector<std::string>& entries);
  void Stop();
  std::vector<int> ports_copy() const {
    absl::MutexLock lock(&mutex_);
    return ports_;
  }
  HttpCounts counts() const;

 private:
  static Impl* Of(const mg_connection* connection) {
    return static_cast<Impl*>(mg_get_user_data(mg_get_context(connection)));
  }
  static int OnConnection(const mg_connection* connection, void** data);
  static int OnRequest(mg_connection* connection);
  static void OnRequestEnd(const mg_connection* connection, int status);
  static int OnError(mg_connection* connection, int status, const char* message);
  static void OnClosing(const mg_connection* connection);
  static void OnClosed(const mg_connection* connection);
  static int OnLog(const mg_connection* connection, const char* message);

  HttpReply AnswerSafely(const HttpRequest& request);
  void Write(mg_connection* connection, const HttpReply& reply, bool keep_alive, bool head_only);
  void CutUntilStopped(const std::stop_token& stop);

  const int threads_;
  ConnectionGate gate_;
  Router router_;
  mg_context* context_ = nullptr;
  mutable absl::Mutex mutex_;
  std::vector<int> ports_ ABSL_GUARDED_BY(mutex_);
  std::map<std::pair<std::string, int>, uint64_t> requests_ ABSL_GUARDED_BY(mutex_);
  std::string startup_log_ ABSL_GUARDED_BY(mutex_);
  std::mutex cutter_mutex_;
  std::condition_variable_any cutter_wakes_;
  std::jthread cutter_;
};

int HttpServer::Impl::OnConnection(const mg_connection* connection, void** data) {
  *data = nullptr;
  Of(connection)->gate_.Admit(MonotonicNanos() + kHeadNanos);
  return 0;
}

int HttpServer::Impl::OnRequest(mg_connection* connection) {
  Impl* const self = Of(connection);
  const mg_request_info* info = mg_get_request_info(connection);
  self->gate_.Extend(KeyOf(*info), MonotonicNanos() + kReplyNanos);
  HttpRequest request;
  request.method = OrEmpty(info->request_method);
  request.path = OrEmpty(info->local_uri);
  request.query = OrEmpty(info->query_string);
  request.accept_encoding = OrEmpty(mg_get_header(connection, "Accept-Encoding"));
  bool keep_alive = KeepsAlive(connection, *info);
  if (HasBody(connection, *info)) {  // else civetweb would read it to its end, however slowly it comes
    mg_disable_connection_keep_alive(connection);
    keep_alive = false;
  }
  const HttpReply reply = self->AnswerSafely(request);
  self->Write(connection, reply, keep_alive, request.method == "HEAD");
  return reply.status;
}

HttpReply HttpServer::Impl::AnswerSafely(const HttpRequest& request) {
  try {
    return router_.Answer(request);
  } catch (const std::exception&) {  // out of memory: civetweb is C, nothing may pass through it
    return TextReply(500, "internal error");
  }
}

void HttpServer::Impl::Write(mg_connection* connection, const HttpReply& reply, bool keep_alive,
                             bool head_only) {
  const std::string head = RenderHead(reply, keep_alive);
  const bool wrote = mg_write(connection, head.data(), head.size()) == static_cast<int>(head.size());
  if (wrote && !head_only) mg_write(connection, reply.body->data(), reply.body->size());
  absl::MutexLock lock(&mutex_);
  ++requests_[{reply.handler, reply.status}];
}

void HttpServer::Impl::OnRequestEnd(const mg_connection* connection, int) {
  if (const mg_request_info* info = mg_get_request_info(connection)) {
    Of(connection)->gate_.Extend(KeyOf(*info), MonotonicNanos() + kHeadNanos);
  }
}

int HttpServer::Impl::OnError(mg_connection* connection, int status, const char* message) {
  mg_disable_connection_keep_alive(connection);
  Of(connection)->Write(connection, TextReply(status, message), /*keep_alive=*/false, /*head_only=*/false);
  return 0;
}

void HttpServer::Impl::OnClosing(const mg_connection* connection) {
  if (const mg_request_info* info = mg_get_request_info(connection))
    Of(connection)->gate_.Closing(KeyOf(*info));
}

void HttpServer::Impl::OnClosed(const mg_connection* connection) {
  if (const mg_request_info* info = mg_get_request_info(connection))
    Of(connection)->gate_.Closed(KeyOf(*info));
}

int HttpServer::Impl::OnLog(const mg_connection* connection, const char* message) {
  Impl* const self = Of(connection);
  if (self == nullptr) return 1;
  absl::MutexLock lock(&self->mutex_);
  if (self->ports_.empty() && self->startup_log_.empty()) self->startup_log_ = message;
  return 1;  // what a client does is no reason to log
}

absl::Status HttpServer::Impl::Start(const std::vector<std::string>& entries) {
  const std::string ports = absl::StrJoin(entries, ",");
  const std::string threads = absl::StrCat(threads_);
  const char* options[] = {"listening_ports",
                           ports.c_str(),
                           "num_threads",
                           threads.c_str(),
                           "connection_queue",
                           "512",
                           "listen_backlog",
                           "512",
                           "request_timeout_ms",
                           "2000",
                           "keep_alive_timeout_ms",
                           "1000",
                           "enable_keep_alive",
                           "yes",
                           "tcp_nodelay",
                           "1",
                           "max_request_size",
                           "8192",
                           "decode_url",
                           "no",
                           "enable_auth_domain_check",
                           "no",
                           nullptr};
  mg_callbacks callbacks = {};
  callbacks.begin_request = OnRequest;
  callbacks.end_request = OnRequestEnd;
  callbacks.http_error = OnError;
  callbacks.init_connection = OnConnection;
  callbacks.connection_close = OnClosing;
  callbacks.connection_closed = OnClosed;
  callbacks.log_message = OnLog;
  mg_init_library(0);
  context_ = mg_start(&callbacks, this, options);
  if (context_ == nullptr) {
    mg_exit_library();
    absl::MutexLock lock(&mutex_);
    return absl::UnavailableError(absl::StrCat("cannot listen on ", ports, ": ", startup_log_));
  }
  std::vector<mg_server_port> bound(entries.size());
  const int count = mg_get_server_ports(context_, static_cast<int>(bound.size()), bound.data());
  {
    absl::MutexLock lock(&mutex_);
    for (int i = 0; i < count; ++i) ports_.push_back(bound[static_cast<size_t>(i)].port);
  }
  cutter_ = std::jthread([this](const std::stop_token& stop) { CutUntilStopped(stop); });
  return absl::OkStatus();
}

void HttpServer::Impl::CutUntilStopped(const std::stop_token& stop) {
  std::unique_lock<std::mutex> lock(cutter_mutex_);
  while (!cutter_wakes_.wait_for(lock, stop, kCutInterval, [&stop] { return stop.stop_requested(); })) {
    gate_.Admit(MonotonicNanos() + kHeadNanos);
    gate_.CutOverdue(MonotonicNanos());
  }
}

void HttpServer::Impl::Stop() {
  if (context_ == nullptr) return;
  cutter_.request_stop();
  cutter_.join();
  // Without these two civetweb would notice only at the end of its waits, up to two seconds later.
  for (const int fd : ListListeners(ports_copy())) ShutDownSocket(fd, "");
  gate_.Shut();
  mg_stop(context_);
  mg_exit_library();
  context_ = nullptr;
}

HttpCounts HttpServer::Impl::counts() const {
  HttpCounts counts;
  counts.refused = gate_.refused();
  absl::MutexLock lock(&mutex_);
  counts.requests = requests_;
  return counts;
}

absl::StatusOr<std::unique_ptr<HttpServer>> HttpServer::Create(WebOptions options, WebHandlers handlers) {
  const absl::StatusOr<std::vector<std::string>> entries = ListenEntries(options.listen_addresses);
  if (!entries.ok()) return entries.status();
  auto impl = std::make_unique<Impl>(std::move(options), std::move(handlers));
  const absl::Status started = impl->Start(*entries);
  if (!started.ok()) return started;
  return std::unique_ptr<HttpServer>(new HttpServer(std::move(impl)));
}

HttpServer::HttpServer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
HttpServer::~HttpServer() = default;
void HttpServer::Stop() { impl_->Stop(); }
std::vector<int> HttpServer::ports() const { return impl_->ports_copy(); }
HttpCounts HttpServer::counts() const { return impl_->counts(); }

}  // namespace mempulse
