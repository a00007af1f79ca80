#include "exporter/web/landing_page.h"

#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "exporter/publish/label_text.h"
#include "exporter/web/http_message.h"

namespace mempulse {
namespace {

constexpr char kStyle[] =
    "body{font:15px/1.5 system-ui,sans-serif;max-width:62rem;margin:2rem auto;padding:0 1rem;color:#1b1f24;"
    "background:#fff}h1{font-size:1.5rem;margin:0}p{margin:.4rem 0}.dim{color:#57606a}"
    "h2{font-size:1.05rem;margin:1.8rem 0 .5rem}table{border-collapse:collapse;width:100%}"
    "th,td{text-align:left;padding:.4rem .7rem;border-bottom:1px solid #d8dee4;vertical-align:top}"
    "th{font-weight:600;color:#57606a}td.n,th.n{text-align:right;font-variant-numeric:tabular-nums}"
    "ul{padding-left:1.2rem;margin:.3rem 0}a{color:#0550ae}.bad{color:#a40e26}"
    "@media(prefers-color-scheme:dark){body{background:#0d1117;color:#e6edf3}.dim,th{color:#9198a1}"
    "th,td{border-color:#30363d}a{color:#79b8ff}.bad{color:#ff8182}}";

std::string Text(absl::string_view text) { return EscapeHtml(RepairText(text)); }

std::string Hertz(double hertz) {
  if (hertz >= 1e6) return absl::StrFormat("%.3g MHz", hertz / 1e6);
  if (hertz >= 1e3) return absl::StrFormat("%.3g kHz", hertz / 1e3);
  return absl::StrFormat("%.3g Hz", hertz);
}

std::string TargetRow(const Snapshot::TargetSummary& target) {
  std::string problems =
      absl::StrJoin(target.problems, "<br>",
                    [](std::string* out, const std::string& problem) { out->append(Text(problem)); });
  return absl::StrCat(
      "<tr><td>", Text(target.name), "</td><td class=n>", target.swept, " / ", target.matched, "</td><td>",
      target.trackers.empty() ? "none" : Text(target.trackers), "</td><td class=n>",
      target.measured ? absl::StrFormat("%.0f", target.ceiling_pages) : "-", "</td><td class=n>",
      target.measured ? Hertz(target.hottest_hertz) : "-", "</td><td class=bad>", problems, "</td></tr>\n");
}

std::string TargetTable(const Snapshot& snapshot) {
  if (snapshot.targets.empty()) return "<p class=dim>No target has been looked for yet.</p>\n";
  std::string table =
      "<table>\n<tr><th>Target<th class=n>Processes swept<th>Mechanism<th class=n>Pages at ceiling"
      "<th class=n>Hottest page<th>Problems</tr>\n";
  for (const Snapshot::TargetSummary& target : snapshot.targets) table += TargetRow(target);
  return table + "</table>\n";
}

std::string RoundLine(const Snapshot& snapshot) {
  if (snapshot.round == 0) return "The first round has not ended yet.";
  return absl::StrCat("Round ", snapshot.round, " ended at ",
                      absl::FormatTime("%Y-%m-%d %H:%M:%S", snapshot.round_finished, absl::UTCTimeZone()),
                      " UTC; ", snapshot.series, " series.");
}

std::string Link(absl::string_view path, absl::string_view text, absl::string_view meaning) {
  return absl::StrCat("<li><a href=\"", EscapeHtml(path), "\">", EscapeHtml(text), "</a> <span class=dim>",
                      meaning, "</span></li>\n");
}

}  // namespace

std::string RenderLandingPage(const Snapshot* snapshot, const WebOptions& options) {
  std::string page = absl::StrCat(
      "<!DOCTYPE html>\n<html lang=en>\n<head><meta charset=utf-8><title>mempulse exporter</title>\n"
      "<meta name=viewport content=\"width=device-width,initial-scale=1\">\n<style>",
      kStyle,
      "</style></head>\n<body>\n<h1>mempulse exporter</h1>\n<p>How fast the memory of a service "
      "changes.</p>\n");
  if (snapshot != nullptr) {
    absl::StrAppend(&page, "<p class=dim>Version ", Text(snapshot->build.version), ", revision ",
                    Text(snapshot->build.revision), ". ", RoundLine(*snapshot), "</p>\n<h2>Targets</h2>\n",
                    TargetTable(*snapshot));
  } else {
    page += "<p class=dim>Starting.</p>\n";
  }
  absl::StrAppend(&page, "<h2>Pages</h2>\n<ul>\n", Link(options.telemetry_path, "Metrics", "for Prometheus"),
                  Link("/api/v1/targets", "Targets", "hot regions of every process, as JSON"),
                  Link("/-/healthy", "Health", "is the loop alive"),
                  Link("/-/ready", "Readiness", "has a first round ended"), "</ul>\n</body>\n</html>\n");
  return page;
}

}  // namespace mempulse
