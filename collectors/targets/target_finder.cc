#include "collectors/targets/target_finder.h"

#include <algorithm>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "collectors/targets/pid_file.h"
#include "collectors/targets/process_stat.h"

namespace mempulse {

// What one call of Find knows of the system.
struct TargetFinder::Pass {
  std::vector<ProcessView> processes;                        // ascending by pid
  std::vector<bool> taken;                                   // by an earlier group; parallel to `processes`
  absl::flat_hash_map<pid_t, size_t> by_pid;                 // index into `processes`
  absl::flat_hash_map<pid_t, std::vector<size_t>> children;  // by the parent's pid

  // Adds to `chosen` (indices, each once) all descendants of what it holds.
  void AddDescendants(std::vector<size_t>* chosen) const {
    absl::flat_hash_set<size_t> known(chosen->begin(), chosen->end());
    for (size_t next = 0; next < chosen->size(); ++next) {
      const auto found = children.find(processes[(*chosen)[next]].stat().id.pid);
      if (found == children.end()) continue;
      for (size_t child : found->second) {
        if (known.insert(child).second) chosen->push_back(child);
      }
    }
  }
};

TargetFinder::TargetFinder(const Host& host, std::vector<Group> groups)
    : host_(host), groups_(std::move(groups)) {}

absl::StatusOr<std::unique_ptr<TargetFinder>> TargetFinder::Create(const Host& host,
                                                                   std::vector<TargetGroupOptions> groups) {
  std::vector<Group> compiled;
  compiled.reserve(groups.size());
  for (TargetGroupOptions& options : groups) {
    absl::StatusOr<ProcessMatcher> matcher = ProcessMatcher::Create(options);
    if (!matcher.ok()) return matcher.status();
    compiled.push_back(Group{std::move(options), *std::move(matcher), ProcessId{}});
  }
  return std::unique_ptr<TargetFinder>(new TargetFinder(host, std::move(compiled)));
}

absl::StatusOr<TargetFinder::Pass> TargetFinder::ListProcesses() const {
  const absl::StatusOr<std::vector<pid_t>> pids = host_.ListNumeric("");
  if (!pids.ok()) return pids.status();
  // Through procfs, so that our number is the one that this procfs shows.
  pid_t self = 0;
  const absl::StatusOr<std::string> link = host_.ReadLink(absl::StrCat(host_.procfs(), "/self"));
  if (!link.ok() || !absl::SimpleAtoi(*link, &self)) self = 0;

  Pass pass;
  for (pid_t pid : *pids) {
    if (pid == self) continue;
    absl::StatusOr<ProcessStat> stat = ReadProcessStat(host_, pid);
    if (!stat.ok() || stat->kernel_thread || stat->ended()) continue;
    pass.by_pid[pid] = pass.processes.size();
    pass.children[stat->parent].push_back(pass.processes.size());
    pass.processes.emplace_back(host_, *std::move(stat));
  }
  pass.taken.resize(pass.processes.size());
  return pass;
}

absl::flat_hash_set<pid_t> TargetFinder::ReadPidFiles(const Group& group, const Pass& pass,
                                                      FoundGroup* found) const {
  absl::flat_hash_set<pid_t> pids;
  for (const std::string& path : group.options.pid_files) {
    const absl::StatusOr<pid_t> pid = ReadPidFile(host_, path);
    if (!pid.ok()) {
      found->problems.push_back(absl::StrCat("pid file: ", pid.status().message()));
      continue;
    }
    pids.insert(*pid);
    if (!pass.by_pid.contains(*pid)) {
      found->problems.push_back(
          absl::StrCat("pid file: ", path, " names process ", *pid, ", which does not run"));
    }
  }
  return pids;
}

void TargetFinder::NoteAbsentPids(const Group& group, const Pass& pass, FoundGroup* found) const {
  for (int pid : group.options.pids) {
    if (!pass.by_pid.contains(pid)) found->problems.push_back(absl::StrCat("process ", pid, " does not run"));
  }
}

std::vector<ProcessId> TargetFinder::Select(const Group& group, Pass* pass, FoundGroup* found) const {
  const absl::flat_hash_set<pid_t> from_pid_files = ReadPidFiles(group, *pass, found);
  NoteAbsentPids(group, *pass, found);
  std::vector<size_t> chosen;
  int refused = 0;
  for (size_t i = 0; i < pass->processes.size(); ++i) {
    ProcessView& process = pass->processes[i];
    if (group.matcher.Selects(&process, from_pid_files)) chosen.push_back(i);
    refused += process.exe_refused() ? 1 : 0;
  }
  if (chosen.empty() && refused > 0 && !group.options.exes.empty()) {
    found->problems.push_back(absl::StrCat("the executable of ", refused,
                                           " processes may not be read (needs their uid or CAP_SYS_PTRACE)"));
  }
  if (group.options.children) pass->AddDescendants(&chosen);
  std::vector<ProcessId> matched;
  for (size_t i : chosen) {
    if (pass->taken[i] || group.matcher.Excludes(&pass->processes[i])) continue;
    pass->taken[i] = true;
    matched.push_back(pass->processes[i].stat().id);
  }
  std::sort(matched.begin(), matched.end());
  return matched;
}

void TargetFinder::Sample(const std::vector<ProcessId>& matched, Group* group, FoundGroup* found) const {
  const size_t cap = static_cast<size_t>(std::max(group->options.max_processes, 0));
  const size_t count = std::min(cap, matched.size());
  size_t next = 0;
  if (count < matched.size()) {
    const auto after = std::upper_bound(matched.begin(), matched.end(), group->last_sampled);
    next = static_cast<size_t>(after - matched.begin());
  }
  for (size_t i = 0; i < count; ++i) {
    const ProcessId& id = matched[(next + i) % matched.size()];
    group->last_sampled = id;
    absl::StatusOr<ProcessFacts> facts = ReadProcessFacts(host_, id.pid);
    if (facts.ok() && facts->id == id) found->processes.push_back(*std::move(facts));
    if (!facts.ok() && !absl::IsNotFound(facts.status())) {
      found->problems.push_back(absl::StrCat("process ", id.pid, ": ", facts.status().message()));
    }
  }
}

absl::StatusOr<std::vector<FoundGroup>> TargetFinder::Find() {
  absl::StatusOr<Pass> pass = ListProcesses();
  if (!pass.ok()) return pass.status();
  std::vector<FoundGroup> result;
  result.reserve(groups_.size());
  for (Group& group : groups_) {
    FoundGroup found;
    found.name = group.options.name;
    const std::vector<ProcessId> matched = Select(group, &*pass, &found);
    found.matched = static_cast<int>(matched.size());
    Sample(matched, &group, &found);
    result.push_back(std::move(found));
  }
  return result;
}

}  // namespace mempulse
