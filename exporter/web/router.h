#pragma once

#include <atomic>
#include <memory>

#include "exporter/web/http_message.h"
#include "exporter/web/http_server.h"

namespace mempulse {

// Answers requests from the handlers, without knowing sockets. Thread-safe when the handlers are.
class Router {
 public:
  Router(WebOptions options, WebHandlers handlers);

  HttpReply Answer(const HttpRequest& request);
  // A reload; everything else is answered from memory.
  bool MayTakeLong(const HttpRequest& request) const;

 private:
  HttpReply Metrics(const HttpRequest& request);
  HttpReply Landing();
  HttpReply Healthy();
  HttpReply Ready();
  HttpReply Targets();
  HttpReply Reload();

  const WebOptions options_;
  const WebHandlers handlers_;
  const std::shared_ptr<std::atomic<int>> scrapes_ = std::make_shared<std::atomic<int>>(0);
};

}  // namespace mempulse
