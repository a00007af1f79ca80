#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "collectors/pages/page_tracker.h"
#include "collectors/pages/sweep_sample.h"
#include "collectors/pages/tracker_probe.h"
#include "collectors/targets/process_id.h"
#include "exporter/analysis/frequency_distribution.h"
#include "exporter/analysis/hot_regions.h"
#include "exporter/analysis/page_frequency.h"

// What a round found, as plain values: the input of everything that publishes. Copied out under no lock.
namespace mempulse {

// One requested window as it was really run, over all parts of the address space.
struct RungSummary {
  absl::Duration requested;
  double mean_window_seconds = 0;  // measured
  uint64_t looks = 0;
  double pages = 0;  // looked at (sampled)
  double page_share = 1;
  uint64_t induced_faults = 0;
  bool cut_by_budget = false;
};

struct ProcessReport {
  ProcessId id;
  std::string comm;
  std::string exe;
  absl::Time swept_at;                  // end of the last sweep that gave an answer; InfinitePast: none yet
  std::string tracker;                  // TrackerKindName, or "none"
  std::vector<TrackerSupport> support;  // one a mechanism, why it is or is not used
  SweepOutcome outcome = SweepOutcome::kFailed;
  double sweep_seconds = 0;
  uint64_t tracked_pages = 0;
  uint64_t huge_pages_skipped = 0;
  std::map<std::string, uint64_t> refused_pages;  // by Coverage::Refusal::reason
  double target_cpu = 0;                          // CPU seconds per second during the sweep
  double budget_used = 0;  // share of one CPU that induced faults took, averaged over the round
  FrequencyMap map;
  FrequencyDistribution distribution;
  std::vector<HotRegion> hot_regions;  // fastest first, capped by the runner
  std::vector<SweepRegion> regions;    // those the hot regions point into, same indices
  std::vector<RungSummary> rungs;
  double gap_seconds = 0;        // length of the pause before the sweep; 0 on the first
  double gap_written_pages = 0;  // the written working set over that pause
};

// Upper bounds in hertz of the cumulative histogram of page observations (one a page and sweep); +Inf
// follows.
inline constexpr std::array<double, 8> kObservationBounds = {0.1, 1, 10, 100, 1e3, 1e4, 1e5, 1e6};

// Cumulative since the exporter started; they never fall, also not when processes come and go.
struct GroupTotals {
  std::map<std::string, uint64_t> sweeps;  // by SweepOutcomeName, all outcomes present from the start
  std::map<std::string, uint64_t> errors;  // by reason of kErrorReasons, all present from the start
  std::array<uint64_t, kObservationBounds.size() + 1> observations{};  // not cumulated; last one = beyond
  double observation_sum_hertz = 0;
  ObserverEffect effect;
  uint64_t cross_checks = 0;  // sweeps whose tracker was compared with hashing
  CrossCheck cross_check;     // sums over those
};

// "target_gone", "permission", "attach", "tracker", "mappings", "time_limit", "internal": closed set.
inline constexpr std::array<const char*, 7> kErrorReasons = {
    "target_gone", "permission", "attach", "tracker", "mappings", "time_limit", "internal"};

struct GroupReport {
  std::string name;
  int matched = 0;                       // processes found before the cap
  std::vector<ProcessReport> processes;  // swept this round, or still within their last good answer
  std::vector<std::string> problems;
  bool success = false;  // the last round swept every process it meant to
  double budget = 0;     // SweepOptions::budget of the group
  GroupTotals totals;
};

struct CollectorRun {
  std::string name;  // "targets", "pages"
  bool success = false;
  double duration_seconds = 0;
};

struct RoundReport {
  uint64_t number = 0;  // 0: no round has ended yet
  absl::Time started;
  absl::Time finished;
  absl::Duration interval;
  std::vector<TrackerSupport> own_support;  // ProbeTrackers on memory of our own
  std::vector<CollectorRun> collectors;
  std::vector<GroupReport> groups;  // in the order of the configuration
  bool last_reload_ok = true;
  absl::Time last_reload_at;
  double own_cpu_seconds = 0;  // of the exporter, since its start
};

}  // namespace mempulse
