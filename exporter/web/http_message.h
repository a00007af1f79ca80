#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

// Requests and replies as values.
namespace mempulse {

struct HttpRequest {
  std::string method;
  std::string path;   // as sent, without the query
  std::string query;  // as sent, without the "?"
  std::string accept_encoding;
};

struct HttpReply {
  int status = 200;
  std::string content_type = "text/plain; charset=utf-8";
  std::vector<std::pair<std::string, std::string>> headers;  // beyond those that every reply has
  std::shared_ptr<const std::string> body;                   // never null; often a part of a snapshot
  const char* handler = "other";                             // label of mempulse_http_requests_total
  std::shared_ptr<void> slot;                                // held until the reply is written
};

HttpReply TextReply(int status, std::string body);

// Status line and headers, the empty line included.
std::string RenderHead(const HttpReply& reply, bool keep_alive);

// Does the client take gzip? Reads quality values: "gzip;q=0" and "*;q=0" do not.
bool AcceptsGzip(absl::string_view accept_encoding);

// `collect[]` and `exclude[]` of a query, percent-decoded.
struct Selection {
  std::vector<std::string> collect;
  std::vector<std::string> exclude;
  bool empty() const { return collect.empty() && exclude.empty(); }
};
// InvalidArgument when both are given, there are more than 64, or an escape is broken. Other keys are
// ignored.
absl::StatusOr<Selection> ParseSelection(absl::string_view query);

// For text between tags and in double-quoted attributes.
std::string EscapeHtml(absl::string_view text);

}  // namespace mempulse
