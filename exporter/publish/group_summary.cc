#include "exporter/publish/group_summary.h"

#include <algorithm>
#include <functional>
#include <utility>

namespace mempulse {
namespace {

void AddDistribution(const FrequencyDistribution& from, GroupSummary* to) {
  for (size_t kind = 0; kind < from.kinds.size(); ++kind) {
    const KindDistribution& source = from.kinds[kind];
    KindDistribution& sum = to->distribution.kinds[kind];
    std::transform(source.pages.begin(), source.pages.end(), sum.pages.begin(), sum.pages.begin(),
                   std::plus<>());
    std::transform(source.by_state.begin(), source.by_state.end(), sum.by_state.begin(), sum.by_state.begin(),
                   std::plus<>());
    sum.at_ceiling_now += source.at_ceiling_now;
    sum.ceiling_population += source.ceiling_population;
    sum.ceiling_low += source.ceiling_low;
    sum.ceiling_high += source.ceiling_high;
    const auto any = [](double pages) { return pages > 0; };
    if (std::any_of(source.by_state.begin(), source.by_state.end(), any) || source.ceiling_population > 0) {
      to->covered[kind] = true;
    }
  }
  to->distribution.hottest_hertz = std::max(to->distribution.hottest_hertz, from.hottest_hertz);
}

void AddRungs(const std::vector<RungSummary>& from, GroupSummary* to) {
  for (const RungSummary& rung : from) {
    auto at = std::find_if(to->rungs.begin(), to->rungs.end(),
                           [&rung](const GroupRung& other) { return other.requested <= rung.requested; });
    if (at == to->rungs.end() || at->requested != rung.requested) {
      at = to->rungs.insert(at, GroupRung());
      at->requested = rung.requested;
    }
    const double looks = static_cast<double>(at->looks + rung.looks);
    if (looks > 0) {
      at->mean_window_seconds +=
          (rung.mean_window_seconds - at->mean_window_seconds) * static_cast<double>(rung.looks) / looks;
    }
    at->looks += rung.looks;
    at->pages += rung.pages;
    at->eligible_pages += rung.page_share > 0 ? rung.pages / rung.page_share : 0;
    at->cut_by_budget |= rung.cut_by_budget;
  }
}

void AddFileRegions(const ProcessReport& process, GroupSummary* to) {
  for (const HotRegion& hot : process.hot_regions) {
    if (hot.kind != RegionKind::kFileData && hot.kind != RegionKind::kFileText) continue;
    if (hot.region < 0 || static_cast<size_t>(hot.region) >= process.regions.size()) continue;
    const SweepRegion& mapping = process.regions[static_cast<size_t>(hot.region)];
    StableIdentity identity = IdentifyPage(mapping, hot.start);
    if (identity.object.empty() || hot.frequency_hertz <= 0) continue;
    FileRegion region;
    region.identity = std::move(identity.object);
    region.begin = identity.offset;
    region.end = identity.offset + (hot.end - hot.start);
    region.hertz = hot.frequency_hertz;
    region.name = mapping.name;
    region.build_id = mapping.build_id;
    region.kind = hot.kind;
    to->file_regions.push_back(std::move(region));
  }
}

void AddCeiling(const FrequencyMap& map, GroupSummary* to) {
  if (map.ceiling_hertz > 0) {
    to->least_ceiling_hertz = to->least_ceiling_hertz > 0
                                  ? std::min(to->least_ceiling_hertz, map.ceiling_hertz)
                                  : map.ceiling_hertz;
  }
  to->longest_reference_window = std::max(to->longest_reference_window, map.reference_window);
  to->reference_is_substitute |= map.reference_is_substitute;
}

void AddProcess(const ProcessReport& process, GroupSummary* to) {
  to->newest_sweep = to->measured ? std::max(to->newest_sweep, process.swept_at) : process.swept_at;
  to->measured = true;
  ++to->swept;
  to->longest_sweep_seconds = std::max(to->longest_sweep_seconds, process.sweep_seconds);
  to->tracked_pages += process.tracked_pages;
  to->huge_pages_skipped += process.huge_pages_skipped;
  for (const auto& [reason, pages] : process.refused_pages) to->refused_pages[reason] += pages;
  to->written_pages += process.map.written_pages;
  for (const SweepRegion& region : process.regions) {
    if (region.kind >= 0 && static_cast<size_t>(region.kind) < to->covered.size()) {
      to->covered[static_cast<size_t>(region.kind)] = true;
    }
  }
  AddDistribution(process.distribution, to);
  AddCeiling(process.map, to);
  AddRungs(process.rungs, to);
  AddFileRegions(process, to);
  to->longest_gap_seconds = std::max(to->longest_gap_seconds, process.gap_seconds);
  if (process.gap_seconds > 0) to->gap_written_pages += process.gap_written_pages;
  to->highest_budget_used = std::max(to->highest_budget_used, process.budget_used);
}

}  // namespace

bool IsMeasured(const ProcessReport& process) {
  return process.swept_at > absl::UnixEpoch() && !process.tracker.empty() && process.tracker != "none";
}

GroupSummary SummariseGroup(const GroupReport& group) {
  GroupSummary summary;
  for (const ProcessReport& process : group.processes) {
    for (const TrackerSupport& support : process.support) {
      summary.support.emplace(std::string(TrackerKindName(support.kind)), support.reason, support.supported);
    }
    if (!process.tracker.empty() && process.tracker != "none") summary.trackers.insert(process.tracker);
    if (IsMeasured(process)) AddProcess(process, &summary);
  }
  return summary;
}

}  // namespace mempulse
