#include "config/key_table.h"

namespace mempulse {
namespace {

constexpr int64_t kMaxPid = 4194304;  // PID_MAX_LIMIT

Section SweepKeys(SweepOptions& sweep) {
  return {
      {"windows", DurationListField{&sweep.windows, absl::Microseconds(100), absl::Seconds(10), false},
       "The ladder: times between reset and look, longest first."},
      {"fine_windows",
       DurationListField{&sweep.fine_windows, absl::Microseconds(10), absl::Milliseconds(1), true},
       "Finer rungs for pages that are still saturated on the last of `windows`, longest first and all "
       "shorter than "
       "it. Used only by a tracker that resets a range (writeprotect). `[]` turns them off."},
      {"ceiling_window", DurationField{&sweep.ceiling_window, absl::Microseconds(100), absl::Seconds(10)},
       "The rung on which pages at ceiling are counted; one of `windows`. Runs with different ceiling "
       "windows are "
       "not compared."},
      {"jitter", RatioField{&sweep.jitter, 0, 0.5},
       "Each window varies by plus or minus this share, against writers in step with the sweep."},
      {"budget", RatioField{&sweep.budget, 0, 1, true},
       "What the sweep may cost a target: a share of one CPU, averaged over a round. The finest rungs are "
       "dropped "
       "first."},
      {"burst_limit", RatioField{&sweep.burst_limit, 0, 1, true},
       "The same cost within any 100 ms: a share of one CPU. Spreads the looks over the round."},
      {"target_time_limit", DurationField{&sweep.target_time_limit, absl::Milliseconds(100), absl::Hours(1)},
       "The longest that one sweep of one process may take, waiting included."},
      {"max_pages", CountField{&sweep.max_pages, 1, int64_t{1} << 32},
       "Pages tracked in one process; more are sampled by mapping order."},
      {"cross_check_pages", CountField{&sweep.cross_check_pages, 0, 4096},
       "Pages of each process whose content is hashed once a sweep, to prove that the tracker loses no "
       "write; 0 turns it "
       "off. Needs the right to read the memory."},
      {"include_shared", SwitchField{&sweep.include_shared}, "Sweep shared mappings too."},
      {"include_huge", SwitchField{&sweep.include_huge},
       "Sweep transparent huge pages too. The first write to each then splits it, which the target can "
       "feel."},
  };
}

Section ExcludeKeys(TargetGroupOptions::Excludes& exclude) {
  return {
      {"pids", CountListField{&exclude.pids, 1, kMaxPid}, "Process ids.", "[4243]"},
      {"comms", TextListField{&exclude.comms, &kComm}, "Process names, exact.", "[redis-cli]"},
      {"exes", TextListField{&exclude.exes, &kAbsolutePath}, "Executables, exact.", "[/usr/bin/redis-cli]"},
      {"command_lines", TextListField{&exclude.command_lines, &kRegexp},
       "Regular expressions on the command line.", "['--sentinel']"},
      {"cgroups", TextListField{&exclude.cgroups, &kCgroupGlob}, "Globs on the cgroup path.",
       "['/system.slice/ssh*']"},
  };
}

Section RoundKeys(RoundOptions& round) {
  return {
      {"interval", DurationField{&round.interval, absl::Milliseconds(100), absl::Hours(24)},
       "From the start of one round to the start of the next. A round that takes longer delays the next."},
      {"time_limit", DurationField{&round.time_limit, absl::Milliseconds(100), absl::Hours(24)},
       "The longest that one round over all targets may take; targets that are left over come first next "
       "time."},
      {"workers", CountField{&round.workers, 1, 256}, "Sweeps that run side by side."},
  };
}

Section WebKeys(WebOptions& web) {
  return {
      {"listen_addresses", TextListField{&web.listen_addresses, &kListenAddress},
       "Addresses to serve on: `HOST:PORT`, `[V6]:PORT` (in quotes) or `:PORT` (all addresses, both "
       "families). "
       "Port 0 takes any free port."},
      {"telemetry_path", TextField{&web.telemetry_path, &kTelemetryPath}, "URL path of the metrics."},
      {"max_requests", CountField{&web.max_requests, 1, 10000},
       "Scrapes served at once; one more is answered 503."},
      {"max_connections_per_address", CountField{&web.max_connections_per_address, 1, 10000},
       "Connections held by one client address; one more is refused."},
      {"exporter_metrics", SwitchField{&web.exporter_metrics},
       "Serve the exporter's own `process_*` metrics."},
      {"reload_endpoint", SwitchField{&web.reload_endpoint},
       "Let `POST /-/reload` re-read this file. SIGHUP always does."},
  };
}

Section LimitKeys(LimitOptions& limits) {
  return {
      {"max_series", CountField{&limits.max_series, 100, 1000000},
       "Series served at most; what is cut is counted in `mempulse_series_dropped_total`."},
      {"hot_regions", CountField{&limits.hot_regions, 0, 1000},
       "The hottest file regions of a group that get series of their own."},
  };
}

Section LogKeys(LogOptions& log) {
  return {
      {"level", ChoiceField{&log.level, {"debug", "info", "warn", "error"}},
       "The least severe message logged."},
      {"format", ChoiceField{&log.format, {"logfmt", "json"}}, "One line a message, in this form."},
  };
}

Section PathKeys(PathOptions& path) {
  return {
      {"procfs", TextField{&path.procfs, &kAbsolutePath}, "Where procfs is mounted."},
      {"sysfs", TextField{&path.sysfs, &kAbsolutePath}, "Where sysfs is mounted."},
  };
}

}  // namespace

Section GroupKeys(TargetGroupOptions& group) {
  return {
      {"name", TextField{&group.name, &kGroupName}, "The group's name in metrics; unique in the file.", "app",
       Need::kRequired},
      {"comms", TextListField{&group.comms, &kComm}, "Process names (`/proc/PID/comm`), exact.",
       "[redis-server]", Need::kOneOfThese},
      {"exes", TextListField{&group.exes, &kAbsolutePath}, "Executables (`/proc/PID/exe`), exact.",
       "[/usr/bin/redis-server]", Need::kOneOfThese},
      {"command_lines", TextListField{&group.command_lines, &kRegexp},
       "POSIX extended regular expressions, searched in the command line joined by spaces.",
       "['redis-server .*:6379']", Need::kOneOfThese},
      {"cgroups", TextListField{&group.cgroups, &kCgroupGlob},
       "Globs on the cgroup path: `*` stops at \"/\", `**` does not; `?` and `[..]` as in a shell.",
       "['/system.slice/redis*.service']", Need::kOneOfThese},
      {"pid_files", TextListField{&group.pid_files, &kFilePath},
       "Files that hold a process id, read each round.", "[/run/redis/redis-server.pid]", Need::kOneOfThese},
      {"pids", CountListField{&group.pids, 1, kMaxPid}, "Process ids.", "[4242]", Need::kOneOfThese},
      {"children", SwitchField{&group.children}, "Watch the descendants of matching processes too."},
      {"exclude", SectionField{ExcludeKeys(group.exclude)},
       "Processes that are left out after all: those that match any entry of any list here."},
      {"max_processes", CountField{&group.max_processes, 1, 10000},
       "Processes swept in one round; more are taken in turn, round by round."},
      {"attach", AttachField{&group.attach},
       "Where the userfaultfd comes from that the writeprotect tracker needs, the finest measurement. `true` "
       "allows it "
       "to be put into the target, which stops one of its threads for some 50 us; `cooperative` takes the "
       "one that the "
       "target's preload library offers on `attach_socket`, without a stop and without the permission to "
       "trace."},
      {"tracker", TrackerField{&group.tracker},
       "How writes are seen. `auto` takes the first that works of writeprotect (where `attach` allows it), "
       "softdirty and "
       "hashdiff."},
      {"sweep", SectionField{SweepKeys(group.sweep)},
       "Replaces single keys of the file's `sweep` for this group."},
  };
}

Section OptionsKeys(Options& options) {
  return {
      {"sweep", SectionField{SweepKeys(options.sweep)},
       "How pages are swept, for groups that do not say otherwise."},
      {"round", SectionField{RoundKeys(options.round)}, "When targets are swept."},
      {"web", SectionField{WebKeys(options.web)}, "What is served, and where."},
      {"limits", SectionField{LimitKeys(options.limits)}, "Caps on what is exported."},
      {"log", SectionField{LogKeys(options.log)}, "The log on standard error."},
      {"path", SectionField{PathKeys(options.path)}, "Where the kernel's file systems are."},
      {"attach_socket", TextField{&options.attach_socket, &kSocketPath},
       "The Unix socket on which targets with the preload library offer their userfaultfd (`attach: "
       "cooperative`). Its "
       "folder has to exist. Without this key nothing is listened on. A change needs a restart.",
       "/run/mempulse/attach.sock"},
      {"targets", GroupListField{&options.targets, &options.sweep},
       "The groups of processes to watch. All selectors of a group must match (`comms`, `exes`, "
       "`command_lines`, "
       "`cgroups`, `pid_files`, `pids`; at least one is given); a list matches when one of its entries does. "
       "A "
       "process belongs to the first group that selects it."},
  };
}

const std::vector<absl::string_view>& TrackerChoiceNames() {
  static const auto& names =
      *new std::vector<absl::string_view>{"auto", "writeprotect", "softdirty", "hashdiff"};
  return names;
}

const std::vector<absl::string_view>& AttachChoiceNames() {
  static const auto& names = *new std::vector<absl::string_view>{"false", "true", "cooperative"};
  return names;
}

}  // namespace mempulse
