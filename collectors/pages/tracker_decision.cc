#include "collectors/pages/tracker_decision.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/types/span.h"

namespace mempulse {
namespace {

AccessRefusal ExplainTargetFilter(const TargetAccess& access) {
  const bool admin = access.own.effective.Has(Capability::kSysAdmin);
  const char* const alone =
      admin ? "run the exporter without a seccomp filter of its own, so that it may suspend "
              "the target's"
            : "run the exporter with CAP_SYS_ADMIN and without a seccomp filter of its own";
  return {"seccomp",
          absl::StrCat("the target runs under a seccomp filter (Seccomp: ", access.target.seccomp_mode,
                       "); the default profile of container engines denies userfaultfd, another filter might "
                       "kill the target"),
          absl::StrCat("run the target without a seccomp profile, or ", alone,
                       SoftDirtyMayBeUsed(access) ? ", or use softdirty" : "")};
}

// What only matters to a mechanism that makes the target run a system call.
std::vector<AccessRefusal> ExplainAttachHindrances(const TargetAccess& access, bool attach_allowed) {
  std::vector<AccessRefusal> hindrances;
  if (!attach_allowed) {
    hindrances.push_back({"not_allowed",
                          "the configuration does not allow injecting a userfaultfd into this target",
                          "set attach: true for its target group"});
  }
  if (access.is_32_bit) return {{"architecture", "the target is a 32-bit program", ""}};
  if (access.target.tracer != 0) {
    hindrances.push_back({"foreign_tracker",
                          absl::StrCat("process ", access.target.tracer, " traces the target already"),
                          "end the debugger or strace that is attached to the target"});
  }
  if (access.foreign_write_protection) {
    hindrances.push_back({"foreign_tracker",
                          "a userfaultfd of somebody else write-protects the target's memory",
                          "stop the other exporter or checkpointer that watches this target"});
  }
  const bool may_suspend = access.own.effective.Has(Capability::kSysAdmin) && access.own.seccomp_mode == 0;
  if (access.target.seccomp_mode != 0 && !may_suspend) hindrances.push_back(ExplainTargetFilter(access));
  return hindrances;
}

absl::Span<const AccessPoint> PointsOf(TrackerKind kind) {
  static constexpr AccessPoint kWriteProtectPoints[] = {AccessPoint::kMaps, AccessPoint::kAttach,
                                                        AccessPoint::kPagemap, AccessPoint::kMem};
  static constexpr AccessPoint kSoftDirtyPoints[] = {AccessPoint::kMaps, AccessPoint::kPagemap,
                                                     AccessPoint::kClearRefs};
  static constexpr AccessPoint kHashDiffPoints[] = {AccessPoint::kMaps, AccessPoint::kPagemap,
                                                    AccessPoint::kMem};
  switch (kind) {
    case TrackerKind::kWriteProtect:
      return kWriteProtectPoints;
    case TrackerKind::kSoftDirty:
      return kSoftDirtyPoints;
    case TrackerKind::kHashDiff:
      return kHashDiffPoints;
  }
  return {};
}

}  // namespace

TrackerSupport DecideSupport(const TrackerSupport& own, const TargetAccess& access, bool attach_allowed) {
  if (access.gone) return {own.kind, false, "target_gone", "the target has exited", ""};
  // A filter of our own that denies userfaultfd says nothing about the target, which is to create it.
  const bool only_denied_to_us = own.kind == TrackerKind::kWriteProtect && own.reason == "seccomp";
  if (!own.supported && !only_denied_to_us) return own;
  std::vector<AccessRefusal> refusals;
  if (own.kind == TrackerKind::kWriteProtect) refusals = ExplainAttachHindrances(access, attach_allowed);
  if (own.kind == TrackerKind::kSoftDirty && access.foreign_soft_dirty) {
    refusals.push_back({"foreign_tracker", "another mempulse clears the soft-dirty bits of the target",
                        "stop the other exporter that watches this target"});
  }
  for (AccessRefusal& refusal : ExplainRefusals(PointsOf(own.kind), access)) {
    refusals.push_back(std::move(refusal));
  }
  if (refusals.empty()) return {own.kind, true, "ok", "", ""};
  AccessRefusal joined = JoinRefusals(refusals);
  return {own.kind, false, std::move(joined.reason), std::move(joined.detail), std::move(joined.remedy)};
}

}  // namespace mempulse
