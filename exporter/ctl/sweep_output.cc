#include "exporter/ctl/sweep_output.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "collectors/targets/region_kind.h"
#include "exporter/analysis/hot_regions.h"
#include "exporter/ctl/text_table.h"
#include "nlohmann/json.hpp"

namespace mempulse {
namespace {

using Json = nlohmann::ordered_json;

Json NumberOrNull(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

std::string RegionName(const SweepSample& sample, int region) {
  if (region < 0 || static_cast<size_t>(region) >= sample.regions.size()) return "";
  const SweepRegion& found = sample.regions[static_cast<size_t>(region)];
  return found.name;
}

std::string RungsText(const std::vector<RungCount>& rungs) {
  std::string text;
  for (const RungCount& rung : rungs) {
    if (rung.looks == 0) continue;
    absl::StrAppend(&text, text.empty() ? "" : " ", WindowText(absl::ToDoubleSeconds(rung.requested)), ":",
                    rung.hits, "/", rung.looks);
  }
  return text;
}

std::string IntervalText(const HotRegion& region) {
  if (!std::isfinite(region.high_hertz)) return absl::StrCat(">= ", FrequencyText(region.low_hertz, false));
  return absl::StrCat(FrequencyText(region.low_hertz, false), " - ", FrequencyText(region.high_hertz, false));
}

std::string Subject(const SweepFindings& findings) {
  const std::string name = PrintableText(findings.comm, 64);
  return findings.pid > 0 ? absl::StrCat(name, " (pid ", findings.pid, ")")
                          : absl::StrCat(name, " (capture)");
}

std::string Heading(const SweepFindings& findings) {
  const SweepSample& sample = findings.sample;
  uint64_t faults = 0;
  for (const RungSample& rung : sample.rungs) faults += rung.induced_faults;
  std::string text = absl::StrFormat(
      "%s: %d pages tracked with %s for %.1f s, %.0f written, resolution %s\n", Subject(findings),
      sample.tracked_pages, std::string(TrackerKindName(sample.tracker)), sample.duration_seconds,
      findings.map.written_pages, FrequencyText(findings.map.ceiling_hertz, false));
  absl::StrAppendFormat(
      &text, "sweep %s; %d faults caused, %.2f %% of one CPU of the target's time\n",
      SweepOutcomeName(sample.outcome), faults,
      sample.duration_seconds > 0
          ? 100 * static_cast<double>(faults) * sample.target_seconds_per_hit / sample.duration_seconds
          : 0.0);
  if (const CrossCheck& check = sample.cross_check; check.pages() > 0) {
    absl::StrAppendFormat(&text,
                          "cross-check: of %d pages hashing saw %d written, the tracker missed %d of those\n",
                          check.pages(), check.confirmed + check.missed, check.missed);
  }
  if (sample.huge_pages_skipped > 0) {
    absl::StrAppendFormat(&text, "%d pages inside transparent huge pages were left alone\n",
                          sample.huge_pages_skipped);
  }
  return text;
}

std::string CsvField(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  return absl::StrCat("\"", absl::StrReplaceAll(text, {{"\"", "\"\""}}), "\"");
}

std::string CsvNumber(double value) { return std::isfinite(value) ? absl::StrFormat("%.6g", value) : ""; }

Json RungsJson(const std::vector<RungCount>& rungs) {
  Json list = Json::array();
  for (const RungCount& rung : rungs) {
    list.push_back({{"window_seconds", absl::ToDoubleSeconds(rung.requested)},
                    {"looks", rung.looks},
                    {"hits", rung.hits}});
  }
  return list;
}

}  // namespace

std::string SweepTable(const SweepFindings& findings, size_t most_rows) {
  const std::vector<HotRegion> regions = MergeHotRegions(findings.map);
  std::vector<std::vector<std::string>> rows = {{"ADDRESS", "PAGES", "FREQUENCY", "95 % INTERVAL", "STATE",
                                                 "Z", "KIND", "HITS/LOOKS BY WINDOW", "REGION"}};
  for (const HotRegion& region : regions) {
    if (rows.size() > most_rows) break;
    const bool floor = region.state == PageState::kAtCeiling || region.state == PageState::kProbeLimited;
    rows.push_back({absl::StrFormat("0x%x", region.start),
                    absl::StrCat((region.end - region.start) / kPageSize),
                    FrequencyText(region.frequency_hertz, floor), IntervalText(region),
                    std::string(PageStateName(region.state)), absl::StrFormat("%.1f", region.z),
                    std::string(RegionKindName(region.kind)), RungsText(region.rungs),
                    PrintableText(RegionName(findings.sample, region.region), 48)});
  }
  std::string text = absl::StrCat(Heading(findings), "\n");
  if (regions.empty()) return absl::StrCat(text, "no page was written while it was watched\n");
  absl::StrAppend(&text, TextTable(rows));
  if (regions.size() > most_rows) {
    absl::StrAppend(&text, "... and ", regions.size() - most_rows,
                    " more rows (--top N, --json or --csv for all)\n");
  }
  return text;
}

std::string SweepJson(const SweepFindings& findings) {
  const SweepSample& sample = findings.sample;
  Json json;
  json["target"] = {{"pid", findings.pid},
                    {"start_time_ticks", findings.start_time_ticks},
                    {"comm", findings.comm},
                    {"exe", findings.exe}};
  json["tracker"] = std::string(TrackerKindName(sample.tracker));
  json["outcome"] = SweepOutcomeName(sample.outcome);
  json["duration_seconds"] = sample.duration_seconds;
  json["ceiling_hertz"] = NumberOrNull(findings.map.ceiling_hertz);
  json["reference_window_seconds"] = absl::ToDoubleSeconds(findings.map.reference_window);
  json["tracked_pages"] = sample.tracked_pages;
  json["written_pages"] = NumberOrNull(findings.map.written_pages);
  json["huge_pages_skipped"] = sample.huge_pages_skipped;
  if (const CrossCheck& check = sample.cross_check; check.pages() > 0) {
    json["cross_check"] = {{"confirmed", check.confirmed},
                           {"missed", check.missed},
                           {"unchanged", check.unchanged},
                           {"unconfirmed", check.unconfirmed}};
  }
  Json pages = Json::array();
  for (const PageFrequency& page : findings.map.pages) {
    pages.push_back({{"address", absl::StrFormat("0x%x", page.address)},
                     {"frequency_hertz", NumberOrNull(page.frequency_hertz)},
                     {"low_hertz", NumberOrNull(page.low_hertz)},
                     {"high_hertz", NumberOrNull(page.high_hertz)},
                     {"state", std::string(PageStateName(page.state))},
                     {"region_kind", std::string(RegionKindName(page.kind))},
                     {"region", RegionName(sample, page.region)},
                     {"weight", page.weight},
                     {"rungs", RungsJson(page.rungs)}});
  }
  json["pages"] = std::move(pages);
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string SweepCsv(const SweepFindings& findings) {
  std::string text =
      "address,frequency_hertz,low_hertz,high_hertz,state,region_kind,region,weight,hits_by_window\n";
  for (const PageFrequency& page : findings.map.pages) {
    absl::StrAppend(&text, absl::StrFormat("0x%x", page.address), ",", CsvNumber(page.frequency_hertz), ",",
                    CsvNumber(page.low_hertz), ",", CsvNumber(page.high_hertz), ",",
                    PageStateName(page.state), ",", RegionKindName(page.kind), ",");
    absl::StrAppend(&text, CsvField(PrintableText(RegionName(findings.sample, page.region), 4096)), ",",
                    CsvNumber(page.weight), ",", CsvField(RungsText(page.rungs)), "\n");
  }
  return text;
}

}  // namespace mempulse
