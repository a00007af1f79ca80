#include "collectors/targets/process_matcher.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"

namespace mempulse {

absl::Status ProcessMatcher::Compile(const std::vector<std::string>& command_lines,
                                     const std::vector<std::string>& cgroups, Selectors* selectors) {
  for (const std::string& expression : command_lines) {
    absl::StatusOr<Pattern> pattern = Pattern::Create(expression);
    if (!pattern.ok()) return pattern.status();
    selectors->command_lines.push_back(*std::move(pattern));
  }
  for (const std::string& expression : cgroups) {
    absl::StatusOr<Glob> glob = Glob::Create(expression);
    if (!glob.ok()) return glob.status();
    selectors->cgroups.push_back(*std::move(glob));
  }
  return absl::OkStatus();
}

absl::StatusOr<ProcessMatcher> ProcessMatcher::Create(const TargetGroupOptions& group) {
  ProcessMatcher matcher;
  matcher.by_pid_file_ = !group.pid_files.empty();
  matcher.selected_.pids.insert(group.pids.begin(), group.pids.end());
  matcher.selected_.comms.insert(group.comms.begin(), group.comms.end());
  matcher.selected_.exes.insert(group.exes.begin(), group.exes.end());
  matcher.excluded_.pids.insert(group.exclude.pids.begin(), group.exclude.pids.end());
  matcher.excluded_.comms.insert(group.exclude.comms.begin(), group.exclude.comms.end());
  matcher.excluded_.exes.insert(group.exclude.exes.begin(), group.exclude.exes.end());
  absl::Status status = Compile(group.command_lines, group.cgroups, &matcher.selected_);
  if (status.ok()) status = Compile(group.exclude.command_lines, group.exclude.cgroups, &matcher.excluded_);
  if (!status.ok()) {
    return absl::InvalidArgumentError(absl::StrCat("target group \"", group.name, "\": ", status.message()));
  }
  return matcher;
}

bool ProcessMatcher::AnyCommandLine(const Selectors& selectors, ProcessView* process) {
  return std::any_of(
      selectors.command_lines.begin(), selectors.command_lines.end(),
      [process](const Pattern& pattern) { return pattern.IsFoundIn(process->command_line()); });
}

bool ProcessMatcher::AnyCgroup(const Selectors& selectors, ProcessView* process) {
  return std::any_of(selectors.cgroups.begin(), selectors.cgroups.end(),
                     [process](const Glob& glob) { return glob.Matches(process->cgroup()); });
}

// From cheap to dear, so that most processes cost no read beyond their stat line.
bool ProcessMatcher::Selects(ProcessView* process, const absl::flat_hash_set<pid_t>& from_pid_files) const {
  const ProcessStat& stat = process->stat();
  const bool any_selector = by_pid_file_ || !selected_.pids.empty() || !selected_.comms.empty() ||
                            !selected_.exes.empty() || !selected_.command_lines.empty() ||
                            !selected_.cgroups.empty();
  return any_selector && (!by_pid_file_ || from_pid_files.contains(stat.id.pid)) &&
         (selected_.pids.empty() || selected_.pids.contains(stat.id.pid)) &&
         (selected_.comms.empty() || selected_.comms.contains(stat.comm)) &&
         (selected_.exes.empty() || selected_.exes.contains(process->exe())) &&
         (selected_.cgroups.empty() || AnyCgroup(selected_, process)) &&
         (selected_.command_lines.empty() || AnyCommandLine(selected_, process));
}

bool ProcessMatcher::Excludes(ProcessView* process) const {
  const ProcessStat& stat = process->stat();
  return excluded_.pids.contains(stat.id.pid) || excluded_.comms.contains(stat.comm) ||
         (!excluded_.exes.empty() && excluded_.exes.contains(process->exe())) ||
         AnyCgroup(excluded_, process) || AnyCommandLine(excluded_, process);
}

}  // namespace mempulse
