#include "exporter/publish/group_metrics.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <string>

#include "absl/strings/str_cat.h"

namespace mempulse {
namespace {

template <typename Array>
double Sum(const Array& values) {
  return std::accumulate(values.begin(), values.end(), 0.0);
}

std::string KindText(size_t kind) { return std::string(RegionKindName(kAllRegionKinds[kind])); }

void AddObservations(const GroupReport& group, bool measured, FamilyBook* book) {
  const GroupTotals& totals = group.totals;
  if (!measured && Sum(totals.observations) == 0) return;
  book->AddHistogram(Metric("mempulse_page_write_frequency_hertz"), {group.name}, kObservationBounds,
                     totals.observations, totals.observation_sum_hertz);
}

void AddBands(const std::string& target, const GroupSummary& summary, FamilyBook* book) {
  for (size_t kind = 0; kind < summary.covered.size(); ++kind) {
    if (!summary.covered[kind]) continue;
    const KindDistribution& distribution = summary.distribution.kinds[kind];
    const Shedding shedding = {Shedding::kBands, Sum(distribution.pages),
                               absl::StrCat(target, "/", KindText(kind))};
    for (int band = 0; band < kBandCount; ++band) {
      book->Add(Metric("mempulse_pages_by_frequency"), {target, KindText(kind), std::string(BandName(band))},
                distribution.pages[static_cast<size_t>(band)], shedding);
    }
  }
}

void AddCeiling(const std::string& target, const GroupSummary& summary, FamilyBook* book) {
  if (summary.least_ceiling_hertz > 0) {
    book->Add(Metric("mempulse_ceiling_hertz"), {target}, summary.least_ceiling_hertz);
  }
  if (summary.longest_reference_window <= absl::ZeroDuration()) return;
  double low = 0;
  double high = 0;
  for (size_t kind = 0; kind < summary.covered.size(); ++kind) {
    if (!summary.covered[kind]) continue;
    const KindDistribution& distribution = summary.distribution.kinds[kind];
    book->Add(Metric("mempulse_ceiling_pages"), {target, KindText(kind)}, distribution.ceiling_population);
    low += distribution.ceiling_low;
    high += distribution.ceiling_high;
  }
  book->Add(Metric("mempulse_ceiling_pages_low"), {target}, low);
  book->Add(Metric("mempulse_ceiling_pages_high"), {target}, high);
  book->Add(Metric("mempulse_reference_window_seconds"), {target},
            absl::ToDoubleSeconds(summary.longest_reference_window));
  book->Add(Metric("mempulse_reference_window_substituted"), {target},
            summary.reference_is_substitute ? 1 : 0);
}

void AddPageCounts(const std::string& target, const GroupSummary& summary, FamilyBook* book) {
  book->Add(Metric("mempulse_tracked_pages"), {target}, static_cast<double>(summary.tracked_pages));
  book->Add(Metric("mempulse_written_pages"), {target}, summary.written_pages);
  book->Add(Metric("mempulse_huge_pages_skipped"), {target}, static_cast<double>(summary.huge_pages_skipped));
  for (const auto& [reason, pages] : summary.refused_pages) {
    book->Add(Metric("mempulse_refused_pages"), {target, reason}, static_cast<double>(pages));
  }
  for (int state = 0; state < kPageStateCount; ++state) {
    double pages = 0;
    for (const KindDistribution& kind : summary.distribution.kinds)
      pages += kind.by_state[static_cast<size_t>(state)];
    book->Add(Metric("mempulse_pages_by_state"),
              {target, std::string(PageStateName(static_cast<PageState>(state)))}, pages);
  }
  if (summary.longest_gap_seconds > 0) {
    book->Add(Metric("mempulse_gap_seconds"), {target}, summary.longest_gap_seconds);
    book->Add(Metric("mempulse_gap_written_pages"), {target}, summary.gap_written_pages);
  }
  if (summary.distribution.hottest_hertz > 0) {
    book->Add(Metric("mempulse_hottest_page_hertz"), {target}, summary.distribution.hottest_hertz);
  }
}

void AddRegions(const std::string& target, const RegionSlots::Answer& regions, FamilyBook* book) {
  for (const RegionSlots::Slot& slot : regions.shown) {
    const FileRegion& region = slot.region;
    const Shedding shedding = {Shedding::kRegions, region.hertz, absl::StrCat(target, "/", slot.id)};
    book->Add(Metric("mempulse_region_write_frequency_hertz"), {target, slot.id}, region.hertz, shedding);
    book->Add(Metric("mempulse_region_info"),
              {target, slot.id, region.name, region.build_id, absl::StrCat("0x", absl::Hex(region.begin)),
               std::string(RegionKindName(region.kind))},
              1, shedding);
  }
  book->Add(Metric("mempulse_regions_other"), {target}, static_cast<double>(regions.others));
}

void AddRungs(const std::string& target, const GroupSummary& summary, FamilyBook* book) {
  for (const GroupRung& rung : summary.rungs) {
    const std::string name = absl::FormatDuration(rung.requested);
    const double requested = absl::ToDoubleSeconds(rung.requested);
    const Shedding shedding = {Shedding::kRungs, -requested, absl::StrCat(target, "/", name)};
    const FamilyBook::Labels labels = {target, name};
    book->Add(Metric("mempulse_rung_requested_window_seconds"), labels, requested, shedding);
    book->Add(Metric("mempulse_rung_looks"), labels, static_cast<double>(rung.looks), shedding);
    book->Add(Metric("mempulse_rung_budget_limited"), labels, rung.cut_by_budget ? 1 : 0, shedding);
    if (rung.looks > 0)
      book->Add(Metric("mempulse_rung_window_seconds"), labels, rung.mean_window_seconds, shedding);
    if (rung.eligible_pages > 0) {
      book->Add(Metric("mempulse_rung_page_ratio"), labels, std::min(1.0, rung.pages / rung.eligible_pages),
                shedding);
    }
  }
}

void AddHealth(const GroupReport& group, const GroupSummary& summary, FamilyBook* book) {
  const std::string& target = group.name;
  book->Add(Metric("mempulse_target_success"), {target}, group.success ? 1 : 0);
  book->Add(Metric("mempulse_target_processes_matched"), {target}, group.matched);
  book->Add(Metric("mempulse_target_processes_swept"), {target}, summary.swept);
  for (const std::string& tracker : summary.trackers) {
    book->Add(Metric("mempulse_tracker_info"), {target, tracker}, 1);
  }
  for (const auto& [tracker, reason, supported] : summary.support) {
    book->Add(Metric("mempulse_target_tracker_supported"), {target, tracker, reason}, supported ? 1 : 0);
  }
  std::map<std::string, uint64_t> sweeps = group.totals.sweeps;
  for (int outcome = 0; outcome < kSweepOutcomeCount; ++outcome) {
    sweeps.try_emplace(SweepOutcomeName(static_cast<SweepOutcome>(outcome)), 0);
  }
  for (const auto& [outcome, count] : sweeps) {
    book->Add(Metric("mempulse_sweeps_total"), {target, outcome}, static_cast<double>(count));
  }
  std::map<std::string, uint64_t> errors = group.totals.errors;
  for (const char* reason : kErrorReasons) errors.try_emplace(reason, 0);
  for (const auto& [reason, count] : errors) {
    book->Add(Metric("mempulse_target_errors_total"), {target, reason}, static_cast<double>(count));
  }
}

void AddObserver(const GroupReport& group, const GroupSummary& summary, FamilyBook* book) {
  const std::string& target = group.name;
  const ObserverEffect& effect = group.totals.effect;
  book->Add(Metric("mempulse_observer_stop_seconds_total"), {target}, effect.stop_seconds);
  book->Add(Metric("mempulse_observer_stops_total"), {target}, static_cast<double>(effect.stops));
  book->Add(Metric("mempulse_observer_induced_faults_total"), {target},
            static_cast<double>(effect.induced_faults));
  book->Add(Metric("mempulse_observer_huge_pages_split_total"), {target},
            static_cast<double>(effect.huge_pages_split));
  book->Add(Metric("mempulse_observer_lock_seconds_total"), {target}, effect.lock_seconds);
  book->Add(Metric("mempulse_observer_cpu_seconds_total"), {target}, effect.own_cpu_seconds);
  if (group.budget > 0) book->Add(Metric("mempulse_budget_configured_ratio"), {target}, group.budget);
  if (summary.measured)
    book->Add(Metric("mempulse_budget_used_ratio"), {target}, summary.highest_budget_used);
}

void AddCrossChecks(const GroupReport& group, FamilyBook* book) {
  if (group.totals.cross_checks == 0) return;
  const CrossCheck& check = group.totals.cross_check;
  book->Add(Metric("mempulse_cross_checks_total"), {group.name},
            static_cast<double>(group.totals.cross_checks));
  for (const auto& [result, pages] :
       std::initializer_list<std::pair<const char*, uint64_t>>{{"confirmed", check.confirmed},
                                                               {"missed", check.missed},
                                                               {"unchanged", check.unchanged},
                                                               {"unconfirmed", check.unconfirmed}}) {
    book->Add(Metric("mempulse_cross_checked_pages_total"), {group.name, result}, static_cast<double>(pages));
  }
}

}  // namespace

void AddGroupMetrics(const GroupReport& group, const GroupSummary& summary, int regions, RegionSlots* slots,
                     FamilyBook* book) {
  AddHealth(group, summary, book);
  AddObserver(group, summary, book);
  AddCrossChecks(group, book);
  AddObservations(group, summary.measured, book);
  if (!summary.measured) return;
  AddBands(group.name, summary, book);
  AddCeiling(group.name, summary, book);
  AddPageCounts(group.name, summary, book);
  AddRegions(group.name, slots->Update(summary.file_regions, regions), book);
  AddRungs(group.name, summary, book);
  book->Add(Metric("mempulse_last_sweep_timestamp_seconds"), {group.name},
            absl::ToDoubleSeconds(summary.newest_sweep - absl::UnixEpoch()));
  book->Add(Metric("mempulse_sweep_duration_seconds"), {group.name}, summary.longest_sweep_seconds);
}

}  // namespace mempulse
