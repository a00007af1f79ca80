#include "exporter/web/router.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "exporter/web/landing_page.h"

namespace mempulse {
namespace {

constexpr char kMetricsType[] = "text/plain; version=0.0.4; charset=utf-8";

bool Named(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// The first name that no part has; empty when all are known.
std::string UnknownName(const Selection& selection, const Snapshot& snapshot) {
  for (const std::vector<std::string>* names : {&selection.collect, &selection.exclude}) {
    for (const std::string& name : *names) {
      const auto is = [&name](const Snapshot::Part& part) { return part.collector == name; };
      if (std::none_of(snapshot.parts.begin(), snapshot.parts.end(), is)) return name;
    }
  }
  return "";
}

std::string SelectedText(const Selection& selection, const Snapshot& snapshot) {
  std::string text;
  for (const Snapshot::Part& part : snapshot.parts) {
    const bool wanted = selection.collect.empty() ? !Named(selection.exclude, part.collector)
                                                  : Named(selection.collect, part.collector);
    if (wanted) text += part.text;
  }
  return text;
}

HttpReply SelectionReply(const Selection& selection, const Snapshot& snapshot) {
  const std::string unknown = UnknownName(selection, snapshot);
  const auto any = std::find(selection.collect.begin(), selection.collect.end(), "");
  if (!unknown.empty() || any != selection.collect.end()) {
    const std::string known =
        absl::StrJoin(snapshot.parts, ", ",
                      [](std::string* out, const Snapshot::Part& part) { out->append(part.collector); });
    return TextReply(400, absl::StrCat("no such group of metrics; there are ", known));
  }
  HttpReply reply;
  reply.body = std::make_shared<const std::string>(SelectedText(selection, snapshot));
  reply.content_type = kMetricsType;
  return reply;
}

}  // namespace

Router::Router(WebOptions options, WebHandlers handlers)
    : options_(std::move(options)), handlers_(std::move(handlers)) {}

bool Router::MayTakeLong(const HttpRequest& request) const {
  return options_.reload_endpoint && request.method == "POST" && request.path == "/-/reload";
}

HttpReply Router::Answer(const HttpRequest& request) {
  struct Route {
    std::string path;
    const char* handler;
    bool reads;  // GET and HEAD, else POST
    std::function<HttpReply()> answer;
  };
  const Route routes[] = {
      {options_.telemetry_path, "metrics", true, [this, &request] { return Metrics(request); }},
      {"/-/healthy", "healthy", true, [this] { return Healthy(); }},
      {"/-/ready", "ready", true, [this] { return Ready(); }},
      {"/-/reload", "reload", false, [this] { return Reload(); }},
      {"/api/v1/targets", "targets", true, [this] { return Targets(); }},
      {"/", "landing", true, [this] { return Landing(); }},
  };
  for (const Route& route : routes) {
    if (request.path != route.path) continue;
    const bool fits =
        route.reads ? request.method == "GET" || request.method == "HEAD" : request.method == "POST";
    HttpReply reply = fits ? route.answer() : TextReply(405, "method not allowed");
    if (!fits) reply.headers.emplace_back("Allow", route.reads ? "GET, HEAD" : "POST");
    reply.handler = route.handler;
    return reply;
  }
  return TextReply(404, "not found");
}

HttpReply Router::Metrics(const HttpRequest& request) {
  // Counted first and taken back when too many, so that two at once cannot both take the last place.
  const std::shared_ptr<std::atomic<int>> scrapes = scrapes_;
  const std::shared_ptr<void> slot(nullptr, [scrapes](void*) { --*scrapes; });
  if (++*scrapes > options_.max_requests) {
    HttpReply reply = TextReply(503, absl::StrCat(options_.max_requests, " scrapes are running already"));
    reply.headers.emplace_back("Retry-After", "1");
    return reply;
  }
  const std::shared_ptr<const Snapshot> snapshot = handlers_.snapshot();
  if (snapshot == nullptr) return TextReply(503, "no snapshot yet");
  const absl::StatusOr<Selection> selection = ParseSelection(request.query);
  if (!selection.ok()) return TextReply(400, std::string(selection.status().message()));
  HttpReply reply;
  if (selection->empty()) {
    reply.content_type = kMetricsType;
    const bool gzip = AcceptsGzip(request.accept_encoding) && !snapshot->gzip.empty();
    reply.body = std::shared_ptr<const std::string>(snapshot, gzip ? &snapshot->gzip : &snapshot->text);
    if (gzip) reply.headers.emplace_back("Content-Encoding", "gzip");
  } else {
    reply = SelectionReply(*selection, *snapshot);
  }
  reply.headers.emplace_back("Vary", "Accept-Encoding");
  reply.slot = slot;
  return reply;
}

HttpReply Router::Landing() {
  const std::shared_ptr<const Snapshot> snapshot = handlers_.snapshot();
  HttpReply reply = TextReply(200, RenderLandingPage(snapshot.get(), options_));
  reply.content_type = "text/html; charset=utf-8";
  reply.headers.emplace_back(
      "Content-Security-Policy",
      "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; "
      "frame-ancestors 'none'");
  return reply;
}

HttpReply Router::Healthy() {
  const Health health = handlers_.health();
  return health.alive ? TextReply(200, "healthy")
                      : TextReply(503, absl::StrCat("not healthy: ", health.reason));
}

HttpReply Router::Ready() {
  const Readiness readiness = handlers_.ready();
  return readiness.ready ? TextReply(200, "ready")
                         : TextReply(503, absl::StrCat("not ready: ", readiness.reason));
}

HttpReply Router::Targets() {
  const std::shared_ptr<const Snapshot> snapshot = handlers_.snapshot();
  if (snapshot == nullptr) return TextReply(503, "no snapshot yet");
  HttpReply reply;
  reply.content_type = "application/json";
  reply.body = std::shared_ptr<const std::string>(snapshot, &snapshot->targets_json);
  return reply;
}

HttpReply Router::Reload() {
  if (!options_.reload_endpoint) return TextReply(403, "reloading over HTTP is switched off");
  const absl::Status status = handlers_.reload();
  return status.ok() ? TextReply(200, "reloaded") : TextReply(400, std::string(status.message()));
}

}  // namespace mempulse
