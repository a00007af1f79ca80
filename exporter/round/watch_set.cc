#include "exporter/round/watch_set.h"

#include <algorithm>
#include <set>

#include "exporter/round/group_totals.h"
#include "exporter/round/not_ready.h"

namespace mempulse {

void WatchSet::Adopt(std::vector<FoundGroup> found) {
  for (auto& [key, watched] : watches_) {
    watched->wanted = false;
    ++watched->absent_rounds;
  }
  found_.clear();
  std::vector<Watched*> idle;
  for (FoundGroup& group : found) {
    TotalsOf(group.name);
    for (const ProcessFacts& facts : group.processes) {
      std::unique_ptr<Watched>& watched = watches_[{group.name, facts.id}];
      if (watched == nullptr) {
        watched = std::make_unique<Watched>();
        watched->group = group.name;
        watched->watch = make_watch_(facts);
        watched->report = watched->watch->report();
        watched->seed = static_cast<uint64_t>(facts.id.pid) * 1'000'003;
      }
      watched->wanted = true;
      watched->absent_rounds = 0;
      if (!watched->in_flight) idle.push_back(watched.get());
    }
    const std::string name = group.name;
    found_[name] = std::move(group);
  }
  std::stable_sort(idle.begin(), idle.end(),
                   [](const Watched* a, const Watched* b) { return a->last_started < b->last_started; });
  queue_.assign(idle.rbegin(), idle.rend());
  std::erase_if(watches_, [this](const auto& entry) { return IsOver(*entry.second); });
}

// A process that the rotation left out keeps its tracker and its last answer until its turn comes again.
bool WatchSet::IsOver(const Watched& watched) const {
  if (watched.in_flight || watched.wanted) return false;
  const auto found = found_.find(watched.group);
  if (found == found_.end() || found->second.processes.empty()) return true;
  const int turns = found->second.matched / static_cast<int>(found->second.processes.size());
  return watched.absent_rounds > turns || !watched.watch->Alive();
}

GroupTotals& WatchSet::TotalsOf(const std::string& group) {
  return totals_.try_emplace(group, FreshTotals()).first->second;
}

Watched* WatchSet::Take(absl::Time now) {
  if (queue_.empty()) return nullptr;
  Watched* const watched = queue_.back();
  queue_.pop_back();
  watched->in_flight = true;
  watched->last_started = now;
  ++in_flight_;
  return watched;
}

void WatchSet::Return(Watched* watched, const WatchOutcome& outcome) {
  watched->in_flight = false;
  --in_flight_;
  watched->report = watched->watch->report();
  const bool ended = outcome.outcome == SweepOutcome::kExited || outcome.outcome == SweepOutcome::kExecuted;
  watched->failed = !outcome.problem.ok() && !ended;
  watched->gone = outcome.outcome == SweepOutcome::kExited;
  AddOutcome(outcome, &TotalsOf(watched->group));
}

std::vector<std::string> WatchSet::LeaveOver() {
  std::set<std::string> groups;
  for (Watched* watched : queue_) {
    watched->failed = true;
    ++TotalsOf(watched->group).errors["time_limit"];
    groups.insert(watched->group);
  }
  queue_.clear();
  return {groups.begin(), groups.end()};
}

int WatchSet::wanted() const {
  return static_cast<int>(std::count_if(watches_.begin(), watches_.end(),
                                        [](const auto& entry) { return entry.second->wanted; }));
}

GroupReport WatchSet::Report(const TargetGroupOptions& options, bool discovered) const {
  GroupReport group;
  group.name = options.name;
  group.budget = options.sweep.budget;
  if (const auto found = found_.find(options.name); found != found_.end()) {
    group.matched = found->second.matched;
    group.problems = found->second.problems;
  }
  const auto totals = totals_.find(options.name);
  group.totals = totals != totals_.end() ? totals->second : FreshTotals();
  group.success = discovered;
  for (const auto& [key, watched] : watches_) {
    if (key.first != options.name || watched->gone) continue;
    group.success = group.success && !watched->failed;
    group.processes.push_back(watched->report);
  }
  return group;
}

std::string WatchSet::NotReadyReason() const {
  std::map<std::string, GroupReport> refused;
  bool unswept = false;
  for (const auto& [key, watched] : watches_) {
    if (!watched->wanted) continue;
    unswept |= watched->report.support.empty();
    if (watched->report.support.empty()) continue;
    if (watched->report.tracker != "none") return "";
    GroupReport& group = refused[watched->group];
    group.name = watched->group;
    ProcessReport& process = group.processes.emplace_back();
    process.id = watched->report.id;
    process.comm = watched->report.comm;
    process.support = watched->report.support;
  }
  if (refused.empty() && unswept) return "no process has been swept yet";
  std::vector<GroupReport> groups;
  groups.reserve(refused.size());
  for (auto& [name, group] : refused) groups.push_back(std::move(group));
  return DescribeNotReady(groups);
}

}  // namespace mempulse
