#include "exporter/publish/catalogue.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"

namespace mempulse {
namespace {

std::string LabelCell(const MetricSpec& spec) {
  if (*spec.labels == '\0') return "";
  return absl::StrCat("`", absl::StrJoin(absl::StrSplit(spec.labels, ','), "`, `"), "`");
}

std::string Row(const MetricSpec& spec) {
  return absl::StrCat("| `", spec.name, "` | ", MetricTypeName(spec.type), " | ", spec.unit, " | ",
                      LabelCell(spec), " | ", EvidenceName(spec.evidence), " | ",
                      StabilityName(spec.stability), " | ", spec.help, " |\n");
}

constexpr char kPreamble[] =
    "# Metrics\n\n"
    "Generated from `exporter/publish/catalogue.h` by `mempulse_metrics_reference`; edit there.\n\n"
    "Rounds and scrapes are decoupled: a scrape copies the page that the last round rendered and touches no "
    "target, "
    "so every sample is as old as `mempulse_last_round_timestamp_seconds`. What could not be measured is "
    "absent, "
    "never 0; `mempulse_target_tracker_supported` and `mempulse_tracker_supported` say why.\n\n"
    "Evidence: *exact* figures are counted, *sampled* ones are estimates from a random sample of pages "
    "(equal to the "
    "count when nothing had to be left out), *inferred* ones are computed with the model of the method.\n\n"
    "A target with several processes has the sum of their pages and counters, and of everything else the "
    "figure that "
    "its help names.\n\n"
    "A group of metrics is chosen with `?collect[]=NAME` or left out with `?exclude[]=NAME`.\n";

}  // namespace

const char* MetricTypeName(MetricType type) {
  switch (type) {
    case MetricType::kGauge:
      return "gauge";
    case MetricType::kCounter:
      return "counter";
    case MetricType::kHistogram:
      return "histogram";
  }
  return "";
}

const char* EvidenceName(Evidence evidence) {
  switch (evidence) {
    case Evidence::kExact:
      return "exact";
    case Evidence::kSampled:
      return "sampled";
    case Evidence::kInferred:
      return "inferred";
  }
  return "";
}

const char* StabilityName(Stability stability) {
  return stability == Stability::kStable ? "stable" : "experimental";
}

const char* MetricGroupName(MetricGroup group) {
  switch (group) {
    case MetricGroup::kPages:
      return "pages";
    case MetricGroup::kTargets:
      return "targets";
    case MetricGroup::kObserver:
      return "observer";
    case MetricGroup::kExporter:
      return "exporter";
    case MetricGroup::kProcess:
      return "process";
  }
  return "";
}

const char* MetricGroupSummary(MetricGroup group) {
  switch (group) {
    case MetricGroup::kPages:
      return "How often pages of the targets are written.";
    case MetricGroup::kTargets:
      return "Who is watched, by which mechanism, and whether that works.";
    case MetricGroup::kObserver:
      return "What watching did to the targets.";
    case MetricGroup::kExporter:
      return "The exporter's rounds, configuration and web server.";
    case MetricGroup::kProcess:
      return "The exporter's own process; absent with `--web.disable-exporter-metrics`.";
  }
  return "";
}

std::string RenderMetricsReference() {
  std::string text = kPreamble;
  for (const MetricGroup group : kAllMetricGroups) {
    absl::StrAppend(&text, "\n## ", MetricGroupName(group), "\n", MetricGroupSummary(group),
                    "\n\n| Name | Type | Unit | Labels | Evidence | Stability | Meaning "
                    "|\n|---|---|---|---|---|---|---|\n");
    for (const MetricSpec& spec : catalogue::kMetrics) {
      if (spec.group == group) text += Row(spec);
    }
  }
  return text;
}

}  // namespace mempulse
