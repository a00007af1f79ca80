#pragma once

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "config/options.h"
#include "exporter/analysis/run_profile.h"
#include "exporter/ctl/live_target.h"

namespace mempulse {

// How `record` and `compare` sweep: with pauses, as an exporter does, so that slow writers are seen too.
struct RunCommand {
  int pid = 0;
  absl::Duration interval = absl::Seconds(15);  // from one sweep to the next
  TrackerChoice tracker = TrackerChoice::kAuto;
  bool attach = false;
  double budget = 0.01;  // of one CPU of the target's time, averaged over the interval
  std::string procfs = "/proc";
};

struct RecordCommand {
  RunCommand run;
  std::string file;
  std::string group;  // empty: the process' name
  int runs = 20;
  bool append = false;
};

// Records `runs` sweeps into a baseline file. An interrupt saves what was recorded until then. Exit status: 0
// done, 1 failed; messages on standard error.
int RunRecordCommand(const RecordCommand& command);

// One sweep over a quarter to a half of the interval, then the profile it gives.
absl::StatusOr<RunProfile> TakeRun(const RunCommand& command, const SweepOptions& sweep, uint64_t seed,
                                   const std::stop_token& stop, LiveTarget* target);

// Waits until the next run is due; false on a stop.
bool WaitForRun(absl::Time due, const std::stop_token& stop);

}  // namespace mempulse
