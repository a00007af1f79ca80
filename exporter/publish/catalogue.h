#pragma once

#include <array>
#include <string>
#include <string_view>

// Every metric, declared once: the code, docs/metrics.md, dashboards and rules are checked against this list.
namespace mempulse {

enum class MetricType { kGauge, kCounter, kHistogram };
enum class Evidence { kExact, kSampled, kInferred };  // counted; counted on a sample; computed with a model
enum class Stability { kStable, kExperimental };
// What `?collect[]=` and `?exclude[]=` name, in the order of the page.
enum class MetricGroup { kPages, kTargets, kObserver, kExporter, kProcess };
inline constexpr std::array<MetricGroup, 5> kAllMetricGroups = {
    MetricGroup::kPages, MetricGroup::kTargets, MetricGroup::kObserver, MetricGroup::kExporter,
    MetricGroup::kProcess};

struct MetricSpec {
  const char* name;
  MetricType type;
  const char* unit;    // "" for plain numbers and states
  const char* labels;  // in the order of the values, separated by commas
  MetricGroup group;
  Evidence evidence;
  Stability stability;
  const char* help;  // one line; no backslash, because the serializer does not escape it
};

namespace catalogue {
using enum MetricType;
using enum MetricGroup;
using enum Evidence;
using enum Stability;

inline constexpr MetricSpec kMetrics[] = {
    // Pages: how often they are written.
    {"mempulse_page_write_frequency_hertz", kHistogram, "hertz", "target", kPages, kInferred, kStable,
     "Write frequencies seen: one observation for each page with a frequency and sweep since the exporter "
     "started; a "
     "page at ceiling counts with its floor. Collected between scrapes, once a round."},
    {"mempulse_pages_by_frequency", kGauge, "", "target,region_kind,frequency_band", kPages, kInferred,
     kStable,
     "Pages of the last sweep by decade of their write frequency in hertz (lt_0.1 to ge_100k). Pages at "
     "ceiling are "
     "in no band."},
    {"mempulse_ceiling_pages", kGauge, "", "target,region_kind", kPages, kSampled, kStable,
     "Pages written in every look at the reference window: faster than it resolves."},
    {"mempulse_ceiling_pages_low", kGauge, "", "target", kPages, kSampled, kStable,
     "Lower end of the 95 % interval of mempulse_ceiling_pages over all kinds; equal to it when no page was "
     "left out."},
    {"mempulse_ceiling_pages_high", kGauge, "", "target", kPages, kSampled, kStable,
     "Upper end of the 95 % interval of mempulse_ceiling_pages over all kinds; equal to it when no page was "
     "left out."},
    {"mempulse_ceiling_hertz", kGauge, "hertz", "target", kPages, kExact, kStable,
     "Highest write frequency that the shortest valid window resolved; the least one among the processes."},
    {"mempulse_reference_window_seconds", kGauge, "seconds", "target", kPages, kExact, kStable,
     "Window on which mempulse_ceiling_pages was counted; the longest one among the processes."},
    {"mempulse_reference_window_substituted", kGauge, "", "target", kPages, kExact, kStable,
     "1 when the reference window is not the configured one because that could not be reached."},
    {"mempulse_tracked_pages", kGauge, "", "target", kPages, kExact, kStable,
     "Present pages that the last sweep watched."},
    {"mempulse_written_pages", kGauge, "", "target", kPages, kSampled, kStable,
     "Pages written at least once during the last sweep."},
    {"mempulse_pages_by_state", kGauge, "", "target,state", kPages, kInferred, kStable,
     "Written pages of the last sweep by what can be said about them: measured, at_ceiling, unfit (hit rates "
     "contradict the model), probe_limited (watching slowed the writer), target_idle, too_few (hits)."},
    {"mempulse_huge_pages_skipped", kGauge, "", "target", kPages, kExact, kStable,
     "Base pages inside transparent huge pages that the last sweep left alone."},
    {"mempulse_refused_pages", kGauge, "", "target,reason", kPages, kExact, kStable,
     "Pages that the last sweep could not watch, by reason."},
    {"mempulse_gap_written_pages", kGauge, "", "target", kPages, kExact, kStable,
     "Pages written during the pause before the last sweep: the written working set."},
    {"mempulse_gap_seconds", kGauge, "seconds", "target", kPages, kExact, kStable,
     "Length of the pause over which mempulse_gap_written_pages was counted; the longest one among the "
     "processes."},
    {"mempulse_hottest_page_hertz", kGauge, "hertz", "target", kPages, kInferred, kStable,
     "Write frequency of the fastest page of the last sweep; a floor when that page is at ceiling."},
    {"mempulse_region_write_frequency_hertz", kGauge, "hertz", "target,region_id", kPages, kInferred, kStable,
     "Write frequency of the fastest page of a hot region of a mapped file; a floor at ceiling."},
    {"mempulse_region_info", kGauge, "", "target,region_id,object,build_id,offset,region_kind", kPages,
     kExact, kStable,
     "Text about a region, once: the file, its build id and the offset at which the region starts. Always "
     "1."},
    {"mempulse_regions_other", kGauge, "", "target", kPages, kInferred, kStable,
     "Hot file regions of the last sweep beyond those that are listed."},
    {"mempulse_rung_requested_window_seconds", kGauge, "seconds", "target,rung", kPages, kExact, kStable,
     "Window that was asked for on one rung of the ladder."},
    {"mempulse_rung_window_seconds", kGauge, "seconds", "target,rung", kPages, kExact, kStable,
     "Mean measured window of one rung of the last sweep."},
    {"mempulse_rung_looks", kGauge, "", "target,rung", kPages, kExact, kStable,
     "Looks of one rung of the last sweep."},
    {"mempulse_rung_page_ratio", kGauge, "ratio", "target,rung", kPages, kExact, kStable,
     "Share of the eligible pages that one rung of the last sweep looked at."},
    {"mempulse_rung_budget_limited", kGauge, "", "target,rung", kPages, kExact, kStable,
     "1 when the budget ended or thinned one rung of the last sweep before its answers were tight."},

    // Targets: who is watched and whether that works.
    {"mempulse_target_success", kGauge, "", "target", kTargets, kExact, kStable,
     "1 when the last round swept every process of the group that it meant to."},
    {"mempulse_target_processes_matched", kGauge, "", "target", kTargets, kExact, kStable,
     "Processes that match the group, before the limit on their number."},
    {"mempulse_target_processes_swept", kGauge, "", "target", kTargets, kExact, kStable,
     "Processes of the group with a sweep that gave an answer."},
    {"mempulse_last_sweep_timestamp_seconds", kGauge, "seconds", "target", kTargets, kExact, kStable,
     "Unix time at the end of the group's newest sweep that gave an answer."},
    {"mempulse_sweep_duration_seconds", kGauge, "seconds", "target", kTargets, kExact, kStable,
     "Length of the last sweep; the longest one among the processes."},
    {"mempulse_sweeps_total", kCounter, "", "target,outcome", kTargets, kExact, kStable,
     "Sweeps since the exporter started, by how they ended."},
    {"mempulse_target_errors_total", kCounter, "", "target,reason", kTargets, kExact, kStable,
     "Failures to sweep a process since the exporter started, by reason."},
    {"mempulse_tracker_info", kGauge, "", "target,tracker", kTargets, kExact, kStable,
     "Mechanism that watches pages of the group now. Always 1; absent when every mechanism refused."},
    {"mempulse_target_tracker_supported", kGauge, "", "target,tracker,reason", kTargets, kExact, kStable,
     "1 when a mechanism can be used on the group's processes, else 0; reason says why not."},
    {"mempulse_tracker_supported", kGauge, "", "tracker,reason", kTargets, kExact, kStable,
     "1 when a mechanism passed its functional probe on memory of the exporter's own, else 0; reason says "
     "why not."},
    {"mempulse_cross_checks_total", kCounter, "", "target", kTargets, kExact, kStable,
     "Sweeps that compared the tracker with hashing on a sample of pages. Absent where the memory may not be "
     "read or "
     "hashing is the tracker."},
    {"mempulse_cross_checked_pages_total", kCounter, "", "target,result", kTargets, kExact, kStable,
     "Pages compared: confirmed (both saw a write), unchanged (neither), unconfirmed (only the tracker: the "
     "write "
     "restored the content or lay outside of the two hashes), missed (only hashing: the tracker lost a "
     "write)."},

    // Observer: what watching did to the target.
    {"mempulse_observer_stop_seconds_total", kCounter, "seconds", "target", kObserver, kExact, kStable,
     "Time for which a thread of the target was held in order to attach."},
    {"mempulse_observer_stops_total", kCounter, "", "target", kObserver, kExact, kStable,
     "Times that a thread of the target was held."},
    {"mempulse_observer_induced_faults_total", kCounter, "", "target", kObserver, kExact, kStable,
     "Page faults that watching made the target take. They are part of its own fault counters."},
    {"mempulse_observer_huge_pages_split_total", kCounter, "", "target", kObserver, kExact, kStable,
     "Transparent huge pages of the target that watching caused to be split."},
    {"mempulse_observer_lock_seconds_total", kCounter, "seconds", "target", kObserver, kExact, kStable,
     "Upper bound of the time for which watching held or contended the target's address-space lock."},
    {"mempulse_observer_cpu_seconds_total", kCounter, "seconds", "target", kObserver, kExact, kStable,
     "CPU time that the exporter spent on sweeps of the group."},
    {"mempulse_budget_configured_ratio", kGauge, "ratio", "target", kObserver, kExact, kStable,
     "Share of one CPU of a process that induced faults may take, averaged over a round."},
    {"mempulse_budget_used_ratio", kGauge, "ratio", "target", kObserver, kInferred, kStable,
     "Share of one CPU that induced faults took, averaged over the last round; the highest one among the "
     "processes."},

    // Exporter: its rounds, configuration and web server.
    {"mempulse_build_info", kGauge, "", "version,revision,compiler", kExporter, kExact, kStable,
     "What this exporter was built from. Always 1."},
    {"mempulse_rounds_total", kCounter, "", "", kExporter, kExact, kStable, "Rounds that have ended."},
    {"mempulse_round_duration_seconds", kGauge, "seconds", "", kExporter, kExact, kStable,
     "Length of the last round."},
    {"mempulse_round_interval_seconds", kGauge, "seconds", "", kExporter, kExact, kStable,
     "Configured time from the start of one round to the next. Samples are as old as the last round."},
    {"mempulse_last_round_timestamp_seconds", kGauge, "seconds", "", kExporter, kExact, kStable,
     "Unix time at the end of the last round."},
    {"mempulse_collector_success", kGauge, "", "collector", kExporter, kExact, kStable,
     "1 when the collector succeeded in the last round."},
    {"mempulse_collector_duration_seconds", kGauge, "seconds", "collector", kExporter, kExact, kStable,
     "Time that the collector took in the last round."},
    {"mempulse_config_last_reload_successful", kGauge, "", "", kExporter, kExact, kStable,
     "1 when the last attempt to read the configuration succeeded; 0 while an older one is in force."},
    {"mempulse_config_last_reload_success_timestamp_seconds", kGauge, "seconds", "", kExporter, kExact,
     kStable, "Unix time of the last successful read of the configuration."},
    {"mempulse_series", kGauge, "", "", kExporter, kExact, kStable, "Samples on this page."},
    {"mempulse_series_dropped_total", kCounter, "", "limit", kExporter, kExact, kStable,
     "Samples left out of the page because of a limit, summed over rounds: slowest regions first, then bands "
     "of the "
     "least populated region kinds, then rungs."},
    {"mempulse_http_requests_total", kCounter, "", "handler,code", kExporter, kExact, kStable,
     "HTTP requests answered, as of the last round."},
    {"mempulse_http_connections_refused_total", kCounter, "", "reason", kExporter, kExact, kStable,
     "Connections turned away (address_limit) or cut (overdue), as of the last round."},
    {"mempulse_attach_offers_held", kGauge, "", "", kExporter, kExact, kStable,
     "Processes whose offered userfaultfd is held (attach: cooperative), as of the last round."},
    {"mempulse_attach_offers_total", kCounter, "", "result", kExporter, kExact, kStable,
     "Connections to attach_socket, as of the last round: accepted, replaced (accepted from a process that "
     "had "
     "offered before), or why they were turned away."},

    // Process: the exporter's own, under the names that every Prometheus client library uses.
    {"process_cpu_seconds_total", kCounter, "seconds", "", kProcess, kExact, kStable,
     "Total user and system CPU time spent in seconds, as of the last round."},
    {"process_resident_memory_bytes", kGauge, "bytes", "", kProcess, kExact, kStable,
     "Resident memory size in bytes, as of the last round."},
    {"process_virtual_memory_bytes", kGauge, "bytes", "", kProcess, kExact, kStable,
     "Virtual memory size in bytes, as of the last round."},
    {"process_open_fds", kGauge, "", "", kProcess, kExact, kStable,
     "Number of open file descriptors, as of the last round."},
    {"process_max_fds", kGauge, "", "", kProcess, kExact, kStable,
     "Maximum number of open file descriptors."},
    {"process_threads", kGauge, "", "", kProcess, kExact, kStable,
     "Number of OS threads, as of the last round."},
    {"process_start_time_seconds", kGauge, "seconds", "", kProcess, kExact, kStable,
     "Start time of the process since unix epoch in seconds."},
};
}  // namespace catalogue

// The declaration of a metric; a name that is not in the catalogue does not compile.
consteval const MetricSpec& Metric(std::string_view name) {
  for (const MetricSpec& spec : catalogue::kMetrics) {
    if (name == spec.name) return spec;
  }
  throw "no such metric";
}

const char* MetricTypeName(MetricType type);        // "gauge", ...
const char* EvidenceName(Evidence evidence);        // "exact", ...
const char* StabilityName(Stability stability);     // "stable", ...
const char* MetricGroupName(MetricGroup group);     // "pages", ...
const char* MetricGroupSummary(MetricGroup group);  // one sentence

// docs/metrics.md.
std::string RenderMetricsReference();

}  // namespace mempulse
