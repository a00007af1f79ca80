#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "absl/time/time.h"
#include "exporter/analysis/frequency_distribution.h"
#include "exporter/publish/region_slots.h"
#include "exporter/round/round_report.h"

namespace mempulse {

// One rung over all processes of a group.
struct GroupRung {
  absl::Duration requested;
  double mean_window_seconds = 0;  // weighted by looks
  uint64_t looks = 0;
  double pages = 0;
  double eligible_pages = 0;
  bool cut_by_budget = false;
};

// A group as one: sums over the processes that have an answer, or the extreme that the field names.
struct GroupSummary {
  bool measured =
      false;  // at least one process has an answer; all below but `support` means nothing otherwise
  int swept = 0;
  absl::Time newest_sweep;
  double longest_sweep_seconds = 0;
  uint64_t tracked_pages = 0;
  uint64_t huge_pages_skipped = 0;
  std::map<std::string, uint64_t> refused_pages;
  double written_pages = 0;
  FrequencyDistribution distribution;  // hottest_address is not kept: processes do not share addresses
  std::array<bool, kAllRegionKinds.size()> covered{};  // kinds with a watched mapping
  double least_ceiling_hertz = 0;                      // 0: no rung ran
  absl::Duration longest_reference_window;
  bool reference_is_substitute = false;
  double longest_gap_seconds = 0;  // 0: no process had a gap yet
  double gap_written_pages = 0;
  double highest_budget_used = 0;
  std::vector<GroupRung> rungs;  // longest window first
  std::set<std::string> trackers;
  std::set<std::tuple<std::string, std::string, bool>> support;  // tracker, reason, supported
  std::vector<FileRegion> file_regions;                          // hot ones, unordered
};

// Pure.
GroupSummary SummariseGroup(const GroupReport& group);

// Has the process an answer?
bool IsMeasured(const ProcessReport& process);

}  // namespace mempulse
