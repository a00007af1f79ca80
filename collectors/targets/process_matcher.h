#pragma once

#include <string>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/status/statusor.h"
#include "collectors/targets/glob.h"
#include "collectors/targets/pattern.h"
#include "collectors/targets/process_view.h"
#include "config/options.h"

namespace mempulse {

// The selectors and excludes of one target group, compiled. Immutable.
class ProcessMatcher {
 public:
  // InvalidArgument that names the group when an expression does not compile.
  static absl::StatusOr<ProcessMatcher> Create(const TargetGroupOptions& group);

  // Whether each selector that is given matches with one of its entries. `from_pid_files` is what the group's
  // pid files name at present. A group without selectors matches nothing.
  bool Selects(ProcessView* process, const absl::flat_hash_set<pid_t>& from_pid_files) const;
  // Whether one entry of any exclude list matches.
  bool Excludes(ProcessView* process) const;

 private:
  struct Selectors {
    absl::flat_hash_set<pid_t> pids;
    absl::flat_hash_set<std::string> comms;
    absl::flat_hash_set<std::string> exes;
    std::vector<Pattern> command_lines;
    std::vector<Glob> cgroups;
  };
  ProcessMatcher() = default;
  static absl::Status Compile(const std::vector<std::string>& command_lines,
                              const std::vector<std::string>& cgroups, Selectors* selectors);
  static bool AnyCommandLine(const Selectors& selectors, ProcessView* process);
  static bool AnyCgroup(const Selectors& selectors, ProcessView* process);

  bool by_pid_file_ = false;
  Selectors selected_;
  Selectors excluded_;
};

}  // namespace mempulse
