#include "exporter/ctl/comparison_output.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "exporter/ctl/text_table.h"
#include "nlohmann/json.hpp"

namespace mempulse {
namespace {

using Json = nlohmann::ordered_json;

constexpr double kSeenLess = 0.9;  // of the middle run's share

const char* VerdictName(CompareVerdict verdict) {
  switch (verdict) {
    case CompareVerdict::kClean:
      return "clean";
    case CompareVerdict::kFindings:
      return "findings";
    case CompareVerdict::kCannotTell:
      return "cannot_tell";
  }
  return "";
}

std::string BuildText(const std::string& build_id) { return build_id.empty() ? "none" : build_id; }

std::string TimeText(absl::Time time) {
  return absl::FormatTime("%Y-%m-%d %H:%M:%S UTC", time, absl::UTCTimeZone());
}

// How fast against what, in the unit of the signal.
std::string Excess(const Suspicion& suspicion) {
  switch (suspicion.signal) {
    case Signal::kNovel:
      return absl::StrCat(FrequencyText(suspicion.hertz, false), ", never seen before");
    case Signal::kCeilingPopulation:
      return absl::StrFormat("%.0f pages, at most %.0f before", suspicion.hertz, suspicion.normal);
    case Signal::kCurveShift:
      return absl::StrFormat("%.2f times the middle run", suspicion.hertz);
    default:
      return absl::StrCat(FrequencyText(suspicion.hertz, false), ", at most ",
                          FrequencyText(suspicion.normal, false), " before");
  }
}

double MiddleSeenShare(const Baseline& baseline) {
  std::vector<double> shares;
  for (const RunProfile& run : baseline.runs) shares.push_back(run.seen_share);
  if (shares.empty()) return 1;
  const auto middle = shares.begin() + static_cast<std::ptrdiff_t>(shares.size() / 2);
  std::nth_element(shares.begin(), middle, shares.end());
  return *middle;
}

Json NumberOrNull(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

}  // namespace

void Judge(const Baseline& baseline, CompareAnswer* answer) {
  if (!answer->findings.empty()) {
    answer->verdict = CompareVerdict::kFindings;
    return;
  }
  answer->verdict = CompareVerdict::kCannotTell;
  if (!answer->reason.empty()) return;
  if (!answer->last.incomparable.empty()) {
    answer->reason = answer->last.incomparable;
  } else if (answer->runs < kFewestRuns) {
    answer->reason = absl::StrCat("the baseline has ", answer->runs, " runs; at least ", kFewestRuns,
                                  " are needed to say that nothing is new");
  } else if (answer->last.seen_share < kSeenLess * MiddleSeenShare(baseline)) {
    answer->reason = absl::StrFormat(
        "the budget allowed to look at %.0f %% of the pages, the baseline's runs saw %.0f %%: raise --budget",
        100 * answer->last.seen_share, 100 * MiddleSeenShare(baseline));
  } else {
    answer->verdict = CompareVerdict::kClean;
  }
}

std::string CompareTable(const CompareAnswer& answer) {
  std::string text =
      absl::StrFormat("%s against %d runs, %d sweeps\n\n", answer.subject, answer.runs, answer.sweeps);
  if (answer.sweeps > 0 && answer.last.incomparable.empty()) {
    std::vector<std::vector<std::string>> rows = {{"SIGNAL", "STATISTIC", "GREATEST OF THE RUNS", "P"}};
    for (const Signal signal : kAllSignals) {
      const SignalScore& score = answer.scores[static_cast<size_t>(signal)];
      rows.push_back({std::string(SignalName(signal)), absl::StrFormat("%.3g", score.statistic),
                      absl::StrFormat("%.3g", score.greatest_normal),
                      absl::StrFormat("%.3g", score.p_value)});
    }
    absl::StrAppend(&text, TextTable(rows));
    const CurveComparison& curve = answer.last.whole;
    const CeilingComparison& ceiling = answer.last.ceiling;
    absl::StrAppendFormat(
        &text,
        "\n%d pages over the baseline, %d novel; ceiling population %.0f (baseline %.0f to %.0f); "
        "%.2f times the middle run\n",
        curve.over_pages, answer.last.novel.size(), ceiling.live, ceiling.baseline_least,
        ceiling.baseline_most, curve.shift_factor);
    absl::StrAppendFormat(&text, "p is never below %.3g with %d runs\n", answer.least_p_value, answer.runs);
  }
  for (const Finding& finding : answer.findings) {
    absl::StrAppendFormat(&text, "FINDING %s: %s: %s (in %d sweeps since %s)\n",
                          std::string(SignalName(finding.suspicion.signal)),
                          PrintableText(finding.suspicion.where, 160), Excess(finding.suspicion),
                          finding.sweeps, TimeText(finding.since));
  }
  switch (answer.verdict) {
    case CompareVerdict::kClean:
      return absl::StrCat(text, "clean\n");
    case CompareVerdict::kFindings:
      return absl::StrCat(text, answer.findings.size(), " finding(s)\n");
    case CompareVerdict::kCannotTell:
      return absl::StrCat(text, "cannot tell: ", answer.reason, "\n");
  }
  return text;
}

std::string CompareJson(const CompareAnswer& answer) {
  Json json = {{"subject", answer.subject}, {"verdict", VerdictName(answer.verdict)},
               {"reason", answer.reason},   {"sweeps", answer.sweeps},
               {"runs", answer.runs},       {"least_p_value", answer.least_p_value}};
  Json scores = Json::object();
  for (const Signal signal : kAllSignals) {
    const SignalScore& score = answer.scores[static_cast<size_t>(signal)];
    scores[std::string(SignalName(signal))] = {{"statistic", NumberOrNull(score.statistic)},
                                               {"greatest_of_runs", NumberOrNull(score.greatest_normal)},
                                               {"p_value", score.p_value}};
  }
  json["scores"] = std::move(scores);
  json["over_pages"] = answer.last.whole.over_pages;
  json["excess_ratio"] = NumberOrNull(answer.last.whole.excess_ratio);
  json["excess_rank"] = answer.last.whole.excess_rank;
  json["shift_factor"] = NumberOrNull(answer.last.whole.shift_factor);
  json["novel_identities"] = answer.last.novel.size();
  json["ceiling_population"] = {{"live", answer.last.ceiling.live},
                                {"baseline_least", answer.last.ceiling.baseline_least},
                                {"baseline_most", answer.last.ceiling.baseline_most}};
  json["seen_share"] = answer.last.seen_share;
  Json findings = Json::array();
  for (const Finding& finding : answer.findings) {
    findings.push_back({{"signal", std::string(SignalName(finding.suspicion.signal))},
                        {"where", finding.suspicion.where},
                        {"value", NumberOrNull(finding.suspicion.hertz)},
                        {"baseline", NumberOrNull(finding.suspicion.normal)},
                        {"p_value", finding.suspicion.p_value},
                        {"since", absl::FormatTime(absl::RFC3339_sec, finding.since, absl::UTCTimeZone())},
                        {"sweeps", finding.sweeps}});
  }
  json["findings"] = std::move(findings);
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string BaselineTable(const Baseline& baseline) {
  std::string text = absl::StrFormat(
      "group %s, build %s, tracker %s\n%d runs, %d more kept as their upper edge\n",
      PrintableText(baseline.group, 64), PrintableText(BuildText(baseline.build_id), 64),
      PrintableText(baseline.conditions.tracker, 32), baseline.runs.size(), baseline.thinned_runs);
  std::vector<std::string> windows;
  for (const absl::Duration window : baseline.conditions.windows) {
    windows.push_back(WindowText(absl::ToDoubleSeconds(window)));
  }
  absl::StrAppend(&text, "windows ", absl::StrJoin(windows, " "), "; ceiling population counted at ",
                  WindowText(absl::ToDoubleSeconds(baseline.conditions.reference_window)), "\n\n");
  std::vector<std::vector<std::string>> rows = {
      {"TAKEN", "PAGES", "RANK 1", "RANK 10", "RANK 100", "CEILING", "FILE PAGES"}};
  for (const RunProfile& run : baseline.runs) {
    const auto at = [&run](uint64_t rank) {
      const RankCurve::Point point = run.whole.At(rank);
      return point.hertz > 0 ? FrequencyText(point.hertz, std::isinf(point.high)) : std::string("-");
    };
    rows.push_back({TimeText(run.taken_at), absl::StrCat(run.whole.pages()), at(1), at(10), at(100),
                    absl::StrFormat("%.0f", run.ceiling.pages), absl::StrCat(run.identities.size())});
  }
  return absl::StrCat(text, TextTable(rows));
}

std::string BaselineJson(const Baseline& baseline) {
  Json json = {{"group", baseline.group},
               {"build_id", baseline.build_id},
               {"tracker", baseline.conditions.tracker},
               {"thinned_runs", baseline.thinned_runs}};
  Json runs = Json::array();
  for (const RunProfile& run : baseline.runs) {
    Json curve = Json::array();
    for (const RankCurve::Point& point : run.whole.points()) {
      curve.push_back({{"rank", point.rank},
                       {"hertz", point.hertz},
                       {"low", point.low},
                       {"high", NumberOrNull(point.high)}});
    }
    Json pages = Json::array();
    for (const RunProfile::Identity& identity : run.identities) {
      pages.push_back({{"object", run.objects[identity.object].id},
                       {"name", run.objects[identity.object].name},
                       {"offset", identity.offset},
                       {"hertz", identity.hertz}});
    }
    runs.push_back({{"taken_at", absl::FormatTime(absl::RFC3339_sec, run.taken_at, absl::UTCTimeZone())},
                    {"pages", run.whole.pages()},
                    {"ceiling_population", run.ceiling.pages},
                    {"seen_share", run.seen_share},
                    {"curve", std::move(curve)},
                    {"file_pages", std::move(pages)}});
  }
  json["runs"] = std::move(runs);
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace mempulse
