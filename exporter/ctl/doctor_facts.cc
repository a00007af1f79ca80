#include "exporter/ctl/doctor_facts.h"

#include <unistd.h>

#include <string>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_split.h"
#include "collectors/pages/cooperative_decision.h"
#include "collectors/pages/tracker_decision.h"
#include "collectors/targets/mapping_list.h"

namespace mempulse {
namespace {

// The initial namespace maps every id to itself.
bool InInitialUserNamespace(const Host& host) {
  const absl::StatusOr<std::string> map = host.ReadFile(host.procfs() + "/self/uid_map", 4096);
  if (!map.ok()) return true;  // a kernel without user namespaces
  const std::vector<std::string> words = absl::StrSplit(*map, absl::ByAnyChar(" \n"), absl::SkipEmpty());
  return words == std::vector<std::string>{"0", "0", "4294967295"};
}

// Whether an offer may be expected of the target: only a running exporter knows of a real one.
absl::Status PreloadStatus(const Host& host, pid_t pid) {
  bool truncated = false;
  const absl::StatusOr<std::vector<Mapping>> mappings = ReadMappings(host, pid, &truncated);
  if (!mappings.ok()) return mappings.status();
  for (const Mapping& mapping : *mappings) {
    if (absl::EndsWith(mapping.name, "/libmempulse_attach.so")) return absl::OkStatus();
  }
  return absl::UnavailableError("the target has not loaded libmempulse_attach.so");
}

absl::StatusOr<DoctorFacts::OfTarget> CollectTarget(const Host& host, pid_t pid,
                                                    const std::vector<TrackerSupport>& own) {
  absl::StatusOr<ProcessFacts> process = ReadProcessFacts(host, pid);
  if (!process.ok()) return process.status();
  const absl::StatusOr<Target> target = Target::Open(host, *process);
  if (!target.ok()) return target.status();
  absl::StatusOr<TargetAccess> access = ReadTargetAccess(host, *target);
  if (!access.ok()) return access.status();
  DoctorFacts::OfTarget facts{*std::move(process), *std::move(access), {}, {}};
  for (const TrackerSupport& support : own) {
    facts.mechanisms.push_back(DecideSupport(support, facts.access, /*attach_allowed=*/true));
    if (support.kind == TrackerKind::kWriteProtect) {
      facts.cooperative = DecideCooperative(support, facts.access, PreloadStatus(host, pid));
    }
  }
  return facts;
}

}  // namespace

absl::StatusOr<DoctorFacts> CollectDoctorFacts(const Host& host, std::optional<pid_t> pid) {
  DoctorFacts facts;
  facts.kernel = ReadKernelFacts(host);
  facts.page_size_bytes = sysconf(_SC_PAGESIZE);
  absl::StatusOr<ProcessSecurity> own = ReadProcessSecurity(host, 0);
  if (!own.ok()) return own.status();
  facts.own = *own;
  facts.initial_user_namespace = InInitialUserNamespace(host);
  if (const absl::StatusOr<std::string> limits = host.ReadFile(host.procfs() + "/self/limits"); limits.ok()) {
    facts.open_files = ParseResourceLimit(*limits, "Max open files").value_or(ResourceLimit{});
    facts.locked_memory_bytes = ParseResourceLimit(*limits, "Max locked memory").value_or(ResourceLimit{});
  }
  facts.mechanisms = ProbeTrackers(host);
  if (!pid.has_value()) return facts;
  absl::StatusOr<DoctorFacts::OfTarget> target = CollectTarget(host, *pid, facts.mechanisms);
  if (!target.ok()) return target.status();
  facts.target = *std::move(target);
  return facts;
}

}  // namespace mempulse
