#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

#include "absl/time/time.h"

// Every setting with its default, as plain values; includes nothing of ours. Filled by config/load_options.h.
namespace mempulse {

enum class TrackerChoice { kAuto, kWriteProtect, kSoftDirty, kHashDiff };
// Where the userfaultfd of a target may come from.
enum class AttachChoice { kNever, kInject, kCooperative };

// Takes integers because g++ 12 thinks the padding in a constant array of durations is read uninitialised.
inline std::vector<absl::Duration> LadderOfMicroseconds(std::initializer_list<int64_t> lengths) {
  std::vector<absl::Duration> ladder;
  for (const int64_t microseconds : lengths) ladder.push_back(absl::Microseconds(microseconds));
  return ladder;
}

// How pages are swept. Ratios are 0-1.
struct SweepOptions {
  std::vector<absl::Duration> windows = LadderOfMicroseconds({20000, 5000, 1000, 250});
  // Only with a tracker that resets a range (writeprotect), for pages still saturated on the last window.
  std::vector<absl::Duration> fine_windows = LadderOfMicroseconds({100, 50, 20});
  absl::Duration ceiling_window = absl::Microseconds(250);  // must be one of `windows`
  double jitter = 0.25;                                     // windows vary by +- this share
  double budget = 0.01;       // of one CPU of the target's time, averaged over a round
  double burst_limit = 0.05;  // of one CPU in any 100 ms
  absl::Duration target_time_limit = absl::Seconds(10);  // one sweep, waiting included
  uint64_t max_pages = 4 << 20;     // tracked per target; more are sampled by mapping order
  uint64_t cross_check_pages = 64;  // whose content is hashed once a sweep to prove the tracker; 0: none
  bool include_shared = false;      // shared mappings
  bool include_huge = false;        // transparent huge pages (the first write splits them)

  bool operator==(const SweepOptions&) const = default;
};

// Which processes to watch. All given selectors must match; a list matches when one of its entries does.
struct TargetGroupOptions {
  std::string name;  // [a-zA-Z0-9_.-]{1,64}, unique
  std::vector<int> pids;
  std::vector<std::string> pid_files;
  std::vector<std::string> comms;          // exact
  std::vector<std::string> exes;           // exact path of the executable
  std::vector<std::string> command_lines;  // POSIX extended regular expressions, searched in the joined line
  std::vector<std::string> cgroups;  // globs over the cgroup path (*, ?, [..]; * does not cross "/", ** does)
  bool children = false;             // descendants of matching processes too
  struct Excludes {
    std::vector<int> pids;
    std::vector<std::string> comms;
    std::vector<std::string> exes;
    std::vector<std::string> command_lines;
    std::vector<std::string> cgroups;

    bool operator==(const Excludes&) const = default;
  } exclude;
  int max_processes = 8;  // swept per round; more are taken in turn
  // kInject allows putting a userfaultfd into the target (writeprotect); kCooperative takes what it offers
  // itself.
  AttachChoice attach = AttachChoice::kNever;
  TrackerChoice tracker = TrackerChoice::kAuto;
  SweepOptions sweep;  // starts from the file's top-level `sweep`

  bool operator==(const TargetGroupOptions&) const = default;
};

struct RoundOptions {
  absl::Duration interval = absl::Seconds(15);
  absl::Duration time_limit = absl::Seconds(60);  // one round over all targets
  int workers = 4;                                // sweeps that run side by side

  bool operator==(const RoundOptions&) const = default;
};

struct WebOptions {
  std::vector<std::string> listen_addresses = {
      ":9834"};  // HOST:PORT, [V6]:PORT or :PORT (all, both families)
  std::string telemetry_path = "/metrics";
  int max_requests = 40;                 // scrapes at once; 503 beyond
  int max_connections_per_address = 32;  // refused beyond; loopback clients count like any other
  bool exporter_metrics = true;          // the exporter's own process_* metrics
  bool reload_endpoint = true;           // POST /-/reload

  bool operator==(const WebOptions&) const = default;
};

struct LimitOptions {
  int max_series = 2000;
  int hot_regions = 20;  // top-K of file regions per group

  bool operator==(const LimitOptions&) const = default;
};

struct LogOptions {
  std::string level = "info";     // debug, info, warn, error
  std::string format = "logfmt";  // logfmt, json

  bool operator==(const LogOptions&) const = default;
};

struct PathOptions {
  std::string procfs = "/proc";
  std::string sysfs = "/sys";

  bool operator==(const PathOptions&) const = default;
};

struct Options {
  std::vector<TargetGroupOptions> targets;
  std::string
      attach_socket;  // where targets offer their userfaultfd (AttachChoice::kCooperative); empty: nowhere
  SweepOptions sweep;
  RoundOptions round;
  WebOptions web;
  LimitOptions limits;
  LogOptions log;
  PathOptions path;

  bool operator==(const Options&) const = default;
};

}  // namespace mempulse
