#include "exporter/ctl/targets_command.h"

#include <cstdio>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "collectors/host/host.h"
#include "exporter/ctl/doctor_facts.h"
#include "exporter/ctl/doctor_report.h"
#include "exporter/ctl/http_get.h"
#include "exporter/ctl/text_table.h"
#include "nlohmann/json.hpp"

namespace mempulse {
namespace {

using Json = nlohmann::json;

constexpr size_t kMostRows = 30;

double NumberOf(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_number() ? found->get<double>()
                                                     : std::numeric_limits<double>::infinity();
}

std::string TextOf(const Json& object, const char* key, size_t most) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? PrintableText(found->get<std::string>(), most) : "";
}

std::string HitsText(const Json& rungs) {
  std::string text;
  for (const Json& rung : rungs) {
    absl::StrAppendFormat(&text, "%s%s:%.0f/%.0f", text.empty() ? "" : " ",
                          WindowText(NumberOf(rung, "window_seconds")), NumberOf(rung, "hits"),
                          NumberOf(rung, "looks"));
  }
  return text;
}

std::vector<std::string> RegionRow(const Json& hot) {
  const std::string state = TextOf(hot, "state", 32);
  const bool floor = state == "at_ceiling" || state == "probe_limited";
  return {TextOf(hot, "address", 20),
          absl::StrFormat("%.0f", NumberOf(hot, "pages")),
          FrequencyText(NumberOf(hot, "frequency_hertz"), floor),
          state,
          TextOf(hot, "region_kind", 16),
          HitsText(hot.value("rungs", Json::array())),
          TextOf(hot, "region", 40)};
}

void AppendProcess(const Json& process, std::string* text) {
  absl::StrAppendFormat(text, "  %s (pid %.0f), tracker %s", TextOf(process, "comm", 32),
                        NumberOf(process, "pid"), TextOf(process, "tracker", 16));
  if (!process.contains("swept_at")) {
    absl::StrAppend(text, ": no answer yet\n");
    for (const Json& support : process.value("support", Json::array())) {
      if (support.value("supported", false)) continue;
      absl::StrAppend(text, "    ", TextOf(support, "tracker", 16),
                      " refused: ", TextOf(support, "detail", 400), "; ", TextOf(support, "remedy", 400),
                      "\n");
    }
    return;
  }
  absl::StrAppendFormat(
      text, ": %.0f pages tracked, %.0f written, %.0f at ceiling, resolution %s, swept %s\n\n",
      NumberOf(process, "tracked_pages"), NumberOf(process, "written_pages"),
      NumberOf(process, "ceiling_pages"), FrequencyText(NumberOf(process, "ceiling_hertz"), false),
      TextOf(process, "swept_at", 40));
  std::vector<std::vector<std::string>> rows = {
      {"ADDRESS", "PAGES", "FREQUENCY", "STATE", "KIND", "HITS/LOOKS BY WINDOW", "REGION"}};
  const Json regions = process.value("hot_regions", Json::array());
  for (const Json& hot : regions) {
    if (rows.size() > kMostRows) break;
    rows.push_back(RegionRow(hot));
  }
  absl::StrAppend(text, TextTable(rows));
  if (regions.size() > kMostRows)
    absl::StrAppend(text, "... and ", regions.size() - kMostRows, " more rows\n");
}

}  // namespace

absl::StatusOr<std::string> TargetsTable(const std::string& json) {
  const Json report = Json::parse(json, nullptr, /*allow_exceptions=*/false);
  if (!report.is_object() || !report.contains("targets") || !report["targets"].is_array()) {
    return absl::InvalidArgumentError("the answer is not the JSON of a mempulse exporter");
  }
  std::string text;
  for (const Json& group : report["targets"]) {
    const Json processes = group.value("processes", Json::array());
    absl::StrAppendFormat(&text, "%s: %.0f process(es) found, %d watched\n", TextOf(group, "name", 64),
                          NumberOf(group, "matched"), processes.size());
    for (const Json& problem : group.value("problems", Json::array())) {
      if (problem.is_string())
        absl::StrAppend(&text, "  ", PrintableText(problem.get<std::string>(), 400), "\n");
    }
    for (const Json& process : processes) AppendProcess(process, &text);
    text += "\n";
  }
  if (text.empty()) text = "no targets are configured\n";
  return text;
}

int RunTargetsCommand(const std::string& url, bool as_json) {
  absl::StatusOr<std::string> body = HttpGet(url, "/api/v1/targets");
  absl::StatusOr<std::string> text = body;
  if (body.ok() && !as_json) text = TargetsTable(*body);
  if (!text.ok()) {
    std::fprintf(stderr, "mempulsectl: %s\n", std::string(text.status().message()).c_str());
    return 1;
  }
  std::fwrite(text->data(), 1, text->size(), stdout);
  return 0;
}

int RunDoctor(int pid, bool as_json) {
  const Host host;
  const absl::StatusOr<DoctorFacts> facts =
      CollectDoctorFacts(host, pid > 0 ? std::optional<pid_t>(pid) : std::nullopt);
  if (!facts.ok()) {
    std::fprintf(stderr, "mempulsectl: %s\n", std::string(facts.status().message()).c_str());
    return 1;
  }
  const std::string text = as_json ? DoctorJson(*facts).dump(2) + "\n" : DoctorTable(*facts);
  std::fwrite(text.data(), 1, text.size(), stdout);
  return DoctorFoundTracker(*facts) ? 0 : 1;
}

}  // namespace mempulse
