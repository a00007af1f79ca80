#include "collectors/pages/tracker_probe.h"

#include <array>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "collectors/pages/cooperative_decision.h"
#include "collectors/pages/cooperative_offers.h"
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

// An offer that turns out to be no good is not tried again.
absl::StatusOr<std::unique_ptr<PageTracker>> OpenOffered(const Host& host, const Target& target,
                                                         CooperativeOffers* offers) {
  absl::StatusOr<WriteProtection> offered = offers->Take(target.facts().id);
  if (!offered.ok()) return offered.status();
  auto opened = OpenOfferedWriteProtectTracker(host, target, *std::move(offered));
  if (absl::StartsWith(opened.status().message(), "foreign_memory: ")) offers->Discard(target.facts().id);
  return opened;
}

absl::StatusOr<std::unique_ptr<PageTracker>> OpenKind(TrackerKind kind, const Host& host,
                                                      const Target& target, const AttachTerms& terms) {
  switch (kind) {
    case TrackerKind::kWriteProtect:
      if (terms.choice == AttachChoice::kCooperative) return OpenOffered(host, target, terms.offers);
      return OpenWriteProtectTracker(host, target);
    case TrackerKind::kSoftDirty:
      return OpenSoftDirtyTracker(host, target);
    case TrackerKind::kHashDiff:
      return OpenHashDiffTracker(host, target);
  }
  return absl::InternalError("unknown tracker");
}

struct ReasonRemedy {
  absl::string_view reason;
  absl::string_view remedy;
};

// Reasons that only show when the tracker is really opened; the message then begins with "REASON: ".
constexpr std::array<ReasonRemedy, 7> kLateReasons = {{
    {"seccomp", "run the target without a seccomp profile, or use softdirty"},
    {"foreign_tracker", "end the debugger or the other exporter that watches the target"},
    {"foreign_memory", "look for what else in the target's place connects to attach_socket"},
    {"yama", "add CAP_SYS_PTRACE to the exporter, or use softdirty"},
    {"capability", "add CAP_SYS_PTRACE to the exporter"},
    {"architecture", ""},
    {"kernel", "use Linux 6.7 or later, or softdirty or hashdiff"},
}};

void RecordFailure(const absl::Status& status, TrackerSupport* support) {
  const absl::string_view message = status.message();
  support->supported = false;
  support->reason = "error";
  support->detail = std::string(message);
  support->remedy.clear();
  for (const ReasonRemedy& known : kLateReasons) {
    if (!absl::StartsWith(message, absl::StrCat(known.reason, ": "))) continue;
    support->reason = std::string(known.reason);
    support->detail = std::string(message.substr(known.reason.size() + 2));
    support->remedy = std::string(known.remedy);
  }
}

bool IsGone(const Host& host, const Target& target) {
  const absl::StatusOr<Target::Change> change = target.Check(host);
  return absl::IsNotFound(change.status()) || (change.ok() && *change == Target::Change::kExited);
}

}  // namespace

std::vector<TrackerSupport> ProbeTrackers(const Host& host) {
  return {ProbeOwnWriteProtect(host), ProbeOwnSoftDirty(host), ProbeOwnHashDiff(host)};
}

std::vector<TrackerSupport> ProbeTarget(const Host& host, const Target& target,
                                        const std::vector<TrackerSupport>& own, const AttachTerms& terms) {
  std::vector<TrackerSupport> support;
  const absl::StatusOr<TargetAccess> access = ReadTargetAccess(
      host, target,
      terms.choice == AttachChoice::kInject ? TraceQuestion::kAsked : TraceQuestion::kLeftAlone);
  for (const TrackerKind kind : kAllTrackerKinds) {
    const bool cooperative = kind == TrackerKind::kWriteProtect && terms.choice == AttachChoice::kCooperative;
    if (access.ok() && cooperative) {
      support.push_back(
          DecideCooperative(OwnSupport(own, kind), *access, OfferStatus(terms.offers, target.facts().id)));
    } else if (access.ok()) {
      support.push_back(DecideSupport(OwnSupport(own, kind), *access, terms.choice == AttachChoice::kInject));
    } else {
      support.push_back({kind, false, "error", std::string(access.status().message()), ""});
    }
  }
  return support;
}

absl::StatusOr<ChosenTracker> OpenTracker(const Host& host, const Target& target,
                                          const std::vector<TrackerSupport>& own, TrackerChoice choice,
                                          const AttachTerms& terms) {
  ChosenTracker chosen;
  chosen.support = ProbeTarget(host, target, own, terms);
  for (TrackerSupport& support : chosen.support) {
    if (support.reason == "target_gone") return absl::NotFoundError(support.detail);
    if (!support.supported || chosen.tracker != nullptr || !Wanted(choice, support.kind)) continue;
    absl::StatusOr<std::unique_ptr<PageTracker>> opened = OpenKind(support.kind, host, target, terms);
    if (opened.ok()) {
      chosen.tracker = std::move(*opened);
      continue;
    }
    if (absl::IsNotFound(opened.status())) return opened.status();
    RecordFailure(opened.status(), &support);
  }
  // Files are opened by number: only a target that is still there proves that they are the target's.
  if (IsGone(host, target)) return absl::NotFoundError("the target has exited");
  return chosen;
}

}  // namespace mempulse
