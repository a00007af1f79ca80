#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "collectors/targets/target_finder.h"
#include "config/options.h"
#include "exporter/round/round_report.h"
#include "exporter/round/target_watch.h"

namespace mempulse {

// One process under watch between discovery and report.
struct Watched {
  std::string group;
  std::unique_ptr<TargetWatch> watch;
  ProcessReport report;  // copy of the watch's, taken when it is idle
  bool in_flight = false;
  bool wanted = true;  // found in the last discovery
  bool failed = false;
  bool gone = false;                               // its last sweep saw it exit
  int absent_rounds = 0;                           // since it was last in a round's sample
  absl::Time last_started = absl::InfinitePast();  // of its sweeps: who waited longest comes first
  uint64_t seed = 0;
};

// The processes under watch, whose turn it is, and what each group's sweeps add up to. Not thread-safe: its
// owner guards it. What Take gave belongs to the taker until Return, unguarded; nothing else is done with it
// meanwhile.
class WatchSet {
 public:
  using MakeWatch = std::function<std::unique_ptr<TargetWatch>(const ProcessFacts&)>;
  explicit WatchSet(MakeWatch make_watch) : make_watch_(std::move(make_watch)) {}

  // A new round's processes: all that are idle get a turn, those that waited longest first. Forgets who is
  // over.
  void Adopt(std::vector<FoundGroup> found);

  // The next one whose turn it is, from now on in flight; null when there is none.
  Watched* Take(absl::Time now);
  void Return(Watched* watched, const WatchOutcome& outcome);
  // Takes the turns of all that wait and counts them as failed for want of time. Their groups, each once.
  std::vector<std::string> LeaveOver();

  bool waiting() const { return !queue_.empty(); }
  int in_flight() const { return in_flight_; }
  int wanted() const;

  // `discovered`: the last discovery succeeded.
  GroupReport Report(const TargetGroupOptions& options, bool discovered) const;
  // Empty when a process that is wanted has a tracker or none is wanted; else why not, and what would help.
  std::string NotReadyReason() const;

 private:
  bool IsOver(const Watched& watched) const;
  GroupTotals& TotalsOf(const std::string& group);

  const MakeWatch make_watch_;
  std::map<std::pair<std::string, ProcessId>, std::unique_ptr<Watched>> watches_;
  std::vector<Watched*> queue_;  // next one last
  std::map<std::string, FoundGroup> found_;
  std::map<std::string, GroupTotals> totals_;
  int in_flight_ = 0;
};

}  // namespace mempulse
