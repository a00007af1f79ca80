#pragma once

#include <memory>
#include <string>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/status/statusor.h"
#include "collectors/host/host.h"
#include "collectors/targets/process_id.h"
#include "collectors/targets/process_matcher.h"
#include "collectors/targets/process_view.h"
#include "collectors/targets/target.h"
#include "config/options.h"

namespace mempulse {

struct FoundGroup {
  std::string name;
  std::vector<ProcessFacts>
      processes;    // this round's sample, ascending from the rotation's start, at most max_processes
  int matched = 0;  // before the cap
  std::vector<std::string> problems;  // e.g. "pid file: open /run/x.pid: No such file ...": shown, not fatal
};

// Finds the processes of every configured group in one pass over procfs. Not thread-safe (keeps the
// rotation).
class TargetFinder {
 public:
  // InvalidArgument when a regular expression or glob does not compile; names group and expression. `host`
  // must outlive the finder.
  static absl::StatusOr<std::unique_ptr<TargetFinder>> Create(const Host& host,
                                                              std::vector<TargetGroupOptions> groups);
  // In the order of the configuration. A process belongs to the first group that selects it. The exporter
  // itself, kernel threads and zombies are never selected. `children` follows every descendant of a selected
  // process, also of one that is excluded or belongs to an earlier group; excludes are asked of each process
  // by itself. When a group matches more than its cap, successive calls rotate through all of its processes
  // (sample k starts after the last process of sample k-1). A process that vanishes meanwhile is left out.
  absl::StatusOr<std::vector<FoundGroup>> Find();

 private:
  struct Group {
    TargetGroupOptions options;
    ProcessMatcher matcher;
    ProcessId last_sampled;
  };
  struct Pass;

  TargetFinder(const Host& host, std::vector<Group> groups);

  absl::StatusOr<Pass> ListProcesses() const;
  absl::flat_hash_set<pid_t> ReadPidFiles(const Group& group, const Pass& pass, FoundGroup* found) const;
  void NoteAbsentPids(const Group& group, const Pass& pass, FoundGroup* found) const;
  std::vector<ProcessId> Select(const Group& group, Pass* pass, FoundGroup* found) const;
  void Sample(const std::vector<ProcessId>& matched, Group* group, FoundGroup* found) const;

  const Host& host_;
  std::vector<Group> groups_;
};

}  // namespace mempulse
