#include "exporter/publish/targets_json.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"
#include "exporter/publish/group_summary.h"

namespace mempulse {
namespace {

using Json = nlohmann::ordered_json;

Json Number(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

Json Time(absl::Time time) {
  if (time <= absl::UnixEpoch() || time == absl::InfiniteFuture()) return nullptr;
  return absl::FormatTime(absl::RFC3339_full, time, absl::UTCTimeZone());
}

std::string Address(uint64_t address) { return absl::StrCat("0x", absl::Hex(address)); }

Json SupportOf(const std::vector<TrackerSupport>& all) {
  Json list = Json::array();
  for (const TrackerSupport& support : all) {
    list.push_back({{"tracker", std::string(TrackerKindName(support.kind))},
                    {"supported", support.supported},
                    {"reason", support.reason},
                    {"detail", support.detail},
                    {"remedy", support.remedy}});
  }
  return list;
}

Json HotRegionOf(const HotRegion& hot, const ProcessReport& process) {
  Json rungs = Json::array();
  for (const RungCount& rung : hot.rungs) {
    rungs.push_back({{"window_seconds", Number(absl::ToDoubleSeconds(rung.requested))},
                     {"looks", rung.looks},
                     {"hits", rung.hits}});
  }
  const bool named = hot.region >= 0 && static_cast<size_t>(hot.region) < process.regions.size();
  return {{"address", Address(hot.start)},
          {"end", Address(hot.end)},
          {"pages", Number(hot.weight)},
          {"frequency_hertz", Number(hot.frequency_hertz)},
          {"low_hertz", Number(hot.low_hertz)},
          {"high_hertz", Number(hot.high_hertz)},
          {"state", std::string(PageStateName(hot.state))},
          {"region_kind", std::string(RegionKindName(hot.kind))},
          {"region", named ? process.regions[static_cast<size_t>(hot.region)].name : ""},
          {"z", Number(hot.z)},
          {"rungs", std::move(rungs)}};
}

Json RungOf(const RungSummary& rung) {
  return {{"requested_window_seconds", Number(absl::ToDoubleSeconds(rung.requested))},
          {"window_seconds", Number(rung.mean_window_seconds)},
          {"looks", rung.looks},
          {"pages", Number(rung.pages)},
          {"page_ratio", Number(rung.page_share)},
          {"induced_faults", rung.induced_faults},
          {"budget_limited", rung.cut_by_budget}};
}

// What is known only with an answer is left out without one.
void AddAnswer(const ProcessReport& process, Json* json) {
  double ceiling_pages = 0;
  for (const KindDistribution& kind : process.distribution.kinds) ceiling_pages += kind.ceiling_population;
  uint64_t induced_faults = 0;
  Json rungs = Json::array();
  for (const RungSummary& rung : process.rungs) {
    induced_faults += rung.induced_faults;
    rungs.push_back(RungOf(rung));
  }
  Json hot_regions = Json::array();
  for (const HotRegion& hot : process.hot_regions) hot_regions.push_back(HotRegionOf(hot, process));
  json->update({{"swept_at", Time(process.swept_at)},
                {"sweep_seconds", Number(process.sweep_seconds)},
                {"tracked_pages", process.tracked_pages},
                {"written_pages", Number(process.map.written_pages)},
                {"ceiling_hertz", Number(process.map.ceiling_hertz)},
                {"ceiling_pages", Number(ceiling_pages)},
                {"gap_seconds", Number(process.gap_seconds)},
                {"gap_written_pages", Number(process.gap_written_pages)},
                {"hot_regions", std::move(hot_regions)},
                {"rungs", std::move(rungs)},
                {"observer_effect",
                 {{"induced_faults", induced_faults}, {"budget_used_ratio", Number(process.budget_used)}}}});
}

Json ProcessOf(const ProcessReport& process) {
  Json json = {{"pid", process.id.pid},
               {"start_time_ticks", process.id.start_time_ticks},
               {"comm", process.comm},
               {"exe", process.exe},
               {"tracker", process.tracker},
               {"support", SupportOf(process.support)},
               {"outcome", SweepOutcomeName(process.outcome)},
               {"refused_pages", process.refused_pages}};
  if (IsMeasured(process)) AddAnswer(process, &json);
  return json;
}

Json GroupOf(const GroupReport& group) {
  Json processes = Json::array();
  for (const ProcessReport& process : group.processes) processes.push_back(ProcessOf(process));
  const ObserverEffect& effect = group.totals.effect;
  return {{"name", group.name},
          {"matched", group.matched},
          {"success", group.success},
          {"problems", group.problems},
          {"processes", std::move(processes)},
          {"observer_effect",
           {{"stop_seconds", Number(effect.stop_seconds)},
            {"stops", effect.stops},
            {"induced_faults", effect.induced_faults},
            {"huge_pages_split", effect.huge_pages_split},
            {"lock_seconds", Number(effect.lock_seconds)},
            {"cpu_seconds", Number(effect.own_cpu_seconds)}}}};
}

}  // namespace

std::string RenderTargetsJson(const RoundReport& report) {
  Json targets = Json::array();
  for (const GroupReport& group : report.groups) targets.push_back(GroupOf(group));
  const bool ended = report.number > 0;
  const Json json = {{"round",
                      {{"number", report.number},
                       {"started", ended ? Time(report.started) : Json(nullptr)},
                       {"finished", ended ? Time(report.finished) : Json(nullptr)},
                       {"interval_seconds", Number(absl::ToDoubleSeconds(report.interval))}}},
                     {"support", SupportOf(report.own_support)},
                     {"targets", std::move(targets)}};
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace mempulse
