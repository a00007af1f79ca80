#include "collectors/pages/tracker_probe.h"

#include <utility>

#include "absl/strings/match.h"
#include "collectors/pages/hashdiff_tracker.h"
#include "collectors/pages/softdirty_tracker.h"
#include "collectors/pages/tracker_access.h"
#include "collectors/pages/tracker_decision.h"
#include "collectors/pages/tracker_own_probe.h"
#include "collectors/pages/writeprotect_tracker.h"

namespace mempulse {
namespace {

TrackerSupport OwnSupport(const std::vector<TrackerSupport>& own, TrackerKind kind) {
  for (const TrackerSupport& support : own) {
    if (support.kind == kind) return support;
  }
  return {kind, false, "error", "the mechanism was never probed", ""};
}

bool Wanted(TrackerChoice choice, TrackerKind kind) {
  switch (choice) {
    case TrackerChoice::kAuto:
      return true;
    case TrackerChoice::kWriteProtect:
      return kind == TrackerKind::kWriteProtect;
    case TrackerChoice::kSoftDirty:
      return kind == TrackerKind::kSoftDirty;
    case TrackerChoice::kHashDiff:
      return kind == TrackerKind::kHashDiff;
  }
  return false;
}

absl::StatusOr<std::unique_ptr<PageTracker>> OpenKind(TrackerKind kind, const Host& host,
                                                      const Target& target) {
  switch (kind) {
    case TrackerKind::kWriteProtect:
      return OpenWriteProtectTracker(host, target);
    case TrackerKind::kSoftDirty:
      return OpenSoftDirtyTracker(host, target);
    case TrackerKind::kHashDiff:
      return OpenHashDiffTracker(host, target);
  }
  return absl::InternalError("unknown tracker");
}

// What a tracker that could not be opened after all tells about the reason.
void RecordFailure(const absl::Status& status, TrackerSupport* support) {
  support->supported = false;
  support->detail = std::string(status.message());
  support->remedy.clear();
  if (absl::StrContains(status.message(), "seccomp")) {
    support->reason = "seccomp";
    support->remedy = "run the target without a seccomp profile, or use softdirty";
  } else if (absl::StrContains(status.message(), "(EBUSY)")) {
    support->reason = "foreign_tracker";
  } else if (absl::StrContains(status.message(), "(EPERM)") ||
             absl::StrContains(status.message(), "(EACCES)")) {
    support->reason = "capability";
    support->remedy = "add CAP_SYS_PTRACE to the exporter";
  } else {
    support->reason = absl::IsUnavailable(status) ? "kernel" : "error";
  }
}

}  // namespace

std::vector<TrackerSupport> ProbeTrackers(const Host& host) {
  return {ProbeOwnWriteProtect(host), ProbeOwnSoftDirty(host), ProbeOwnHashDiff(host)};
}

std::vector<TrackerSupport> ProbeTarget(const Host& host, const Target& target,
                                        const std::vector<TrackerSupport>& own, bool attach_allowed) {
  std::vector<TrackerSupport> support;
  const absl::StatusOr<TargetAccess> access = ReadTargetAccess(host, target);
  for (const TrackerKind kind : kAllTrackerKinds) {
    if (access.ok()) {
      support.push_back(DecideSupport(OwnSupport(own, kind), *access, attach_allowed));
    } else {
      support.push_back({kind, false, "error", std::string(access.status().message()), ""});
    }
  }
  return support;
}

absl::StatusOr<ChosenTracker> OpenTracker(const Host& host, const Target& target,
                                          const std::vector<TrackerSupport>& own, TrackerChoice choice,
                                          bool attach_allowed) {
  ChosenTracker chosen;
  chosen.support = ProbeTarget(host, target, own, attach_allowed);
  for (TrackerSupport& support : chosen.support) {
    if (support.reason == "target_gone") return absl::NotFoundError(support.detail);
    if (!support.supported || chosen.tracker != nullptr || !Wanted(choice, support.kind)) continue;
    absl::StatusOr<std::unique_ptr<PageTracker>> opened = OpenKind(support.kind, host, target);
    if (opened.ok()) {
      chosen.tracker = std::move(*opened);
      continue;
    }
    if (absl::IsNotFound(opened.status())) return opened.status();
    RecordFailure(opened.status(), &support);
  }
  return chosen;
}

}  // namespace mempulse
