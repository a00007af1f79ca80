#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "config/options.h"
#include "exporter/publish/own_state.h"
#include "exporter/publish/snapshot.h"

namespace mempulse {

struct Health {
  bool alive = true;
  std::string reason;  // why not
};

struct Readiness {
  bool ready = false;
  std::string reason;  // why not, one sentence a line
};

// Called from many threads at once; each must return within milliseconds (reload may take longer, one runs at
// a time).
struct WebHandlers {
  std::function<std::shared_ptr<const Snapshot>()> snapshot;  // null before the first one: answered with 503
  std::function<Health()> health;
  std::function<Readiness()> ready;
  std::function<absl::Status()> reload;
};

// Serves the last snapshot over HTTP on a thread of its own, from Create until Stop or destruction.
// Thread-safe. No client can keep another waiting: sockets never block, connections are counted by address
// when they are accepted, and what is overdue is cut. Clients behind one NAT or proxy share an address and
// its WebOptions::max_connections_per_address. Not civetweb: Debian's is built without IPv6, gives a thread
// to each client, and tells neither address nor descriptor before a whole request has come.
class HttpServer {
 public:
  // InvalidArgument for an address that does not parse, Unavailable (naming the address) when it cannot be
  // bound.
  static absl::StatusOr<std::unique_ptr<HttpServer>> Create(WebOptions options, WebHandlers handlers);
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  // Cuts every connection and joins the thread; at once, whatever clients do. A reload that runs is waited
  // for on destruction. Idempotent.
  void Stop();

  // Ports really bound, in the order of the addresses (":0" takes a free one).
  std::vector<int> ports() const;
  HttpCounts counts() const;

 private:
  class Impl;
  explicit HttpServer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace mempulse
