#include "collectors/pages/access_refusal.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace mempulse {
namespace {

constexpr char kOrSoftDirty[] = ", or use softdirty, which needs no permission to trace";

// ---- the kernel's checks, each as far as the facts tell ----

bool SameUser(const TargetAccess& access) {
  for (int i = 0; i < 3; ++i) {
    if (access.target.uids[i] != access.own.uids[3] || access.target.gids[i] != access.own.gids[3])
      return false;
  }
  return true;
}

// Capabilities reach downwards: from the initial namespace into every other, from a container's to nobody
// else's.
bool OutOfReach(const TargetAccess& access) {
  return access.other_user_namespace && !access.initial_user_namespace;
}

bool MayTraceAnyone(const TargetAccess& access) {
  return access.own.effective.Has(Capability::kSysPtrace) && !OutOfReach(access);
}

bool IsFileOfOwnerOnly(AccessPoint point) {
  return point == AccessPoint::kPagemap || point == AccessPoint::kMem || point == AccessPoint::kClearRefs;
}

bool PassesFileMode(AccessPoint point, const TargetAccess& access) {
  if (!IsFileOfOwnerOnly(point)) return true;
  const uint32_t owner = access.not_dumpable ? 0 : access.target.uids[1];
  if (owner == access.own.uids[3]) return true;
  const CapabilitySet& held = access.own.effective;
  if (held.Has(Capability::kDacOverride)) return true;
  return point != AccessPoint::kClearRefs && held.Has(Capability::kDacReadSearch);
}

bool IsTraceCheck(AccessPoint point) { return point != AccessPoint::kClearRefs; }
bool IsAttachCheck(AccessPoint point) { return point == AccessPoint::kMem || point == AccessPoint::kAttach; }

bool PassesYama(AccessPoint point, const TargetAccess& access) {
  if (!IsAttachCheck(point)) return true;
  const int scope = access.yama_scope.value_or(0);
  if (scope >= 3) return false;
  if (scope <= 0 || MayTraceAnyone(access)) return true;
  // A helper process attaches, and nothing descends from that one.
  return scope == 1 && access.is_descendant && point != AccessPoint::kAttach;
}

using Points = std::vector<AccessPoint>;

bool AnyFailsYama(const Points& points, const TargetAccess& access) {
  return std::any_of(points.begin(), points.end(),
                     [&](AccessPoint point) { return !PassesYama(point, access); });
}

bool AnyFailsMode(const Points& points, const TargetAccess& access) {
  return std::any_of(points.begin(), points.end(),
                     [&](AccessPoint point) { return !PassesFileMode(point, access); });
}

bool AnyTraces(const Points& points) { return std::any_of(points.begin(), points.end(), IsTraceCheck); }

// ---- sentences ----

std::string Attempt(AccessPoint point, int error) {
  const char* text = strerrordesc_np(error);
  const char* name = strerrorname_np(error);
  return absl::StrCat(
      point == AccessPoint::kAttach ? "asking for the permission to trace the target"
                                    : absl::StrCat("opening ", AccessPointName(point), " of the target"),
      ": ", text != nullptr ? text : "unknown error", " (", name != nullptr ? name : "?", ")");
}

std::string RunAs(const Points& points, const TargetAccess& access) {
  // Yama asks the same user for more; what it says now may be hidden by what refuses already.
  const bool attaches = std::count(points.begin(), points.end(), AccessPoint::kAttach) > 0;
  const bool yama = access.yama_scope.value_or(0) > 0 && (attaches || !access.is_descendant) &&
                    std::any_of(points.begin(), points.end(), IsAttachCheck);
  return absl::StrCat("run the exporter as uid ", access.target.uids[1], " and gid ", access.target.gids[1],
                      yama ? " and set kernel.yama.ptrace_scope to 0" : "");
}

// The capabilities that let somebody else's process through at all of these points, as words.
std::string MissingCapabilities(const Points& points, const TargetAccess& access) {
  std::vector<std::string> names;
  if (AnyTraces(points) && !access.own.effective.Has(Capability::kSysPtrace)) {
    names.push_back(CapabilityName(Capability::kSysPtrace));
  }
  if (AnyFailsMode(points, access)) {
    const bool write = std::count(points.begin(), points.end(), AccessPoint::kClearRefs) > 0 &&
                       !PassesFileMode(AccessPoint::kClearRefs, access);
    names.push_back(CapabilityName(write ? Capability::kDacOverride : Capability::kDacReadSearch));
  }
  return absl::StrJoin(names, " and ");
}

std::string LowerScope(const Points& points, const TargetAccess& access) {
  const bool attaches = std::count(points.begin(), points.end(), AccessPoint::kAttach) > 0;
  return access.is_descendant && !attaches ? "set kernel.yama.ptrace_scope to 0 or 1"
                                           : "set kernel.yama.ptrace_scope to 0";
}

AccessRefusal ExplainYama(const std::string& attempt, const Points& points, const TargetAccess& access) {
  const int scope = access.yama_scope.value_or(0);
  const std::string detail = absl::StrCat(attempt, "; kernel.yama.ptrace_scope is ", scope);
  const char* const soft_dirty = SoftDirtyMayBeUsed(access) ? kOrSoftDirty : "";
  if (scope >= 3) {
    return {"yama", absl::StrCat(detail, ", which forbids tracing to everybody until the next boot"),
            absl::StrCat("boot with kernel.yama.ptrace_scope below 3", soft_dirty)};
  }
  return {"yama", absl::StrCat(detail, " and the exporter has no CAP_SYS_PTRACE"),
          absl::StrCat("add CAP_SYS_PTRACE to the exporter, or ", LowerScope(points, access), soft_dirty)};
}

AccessRefusal ExplainOwnFilter(const TargetAccess& access) {
  const char* const call = access.own_filter_denies_ptrace ? "ptrace" : "pidfd_getfd";
  return {
      "seccomp",
      absl::StrCat("the exporter runs under a seccomp filter that refuses ", call,
                   " (Seccomp: ", access.own.seccomp_mode, ")"),
      absl::StrCat(access.own.effective.Has(Capability::kSysPtrace)
                       ? ""
                       : "add CAP_SYS_PTRACE to the exporter, with which the default profiles of container "
                         "engines allow it, or ",
                   "allow ptrace and pidfd_getfd in the seccomp profile of the exporter",
                   SoftDirtyMayBeUsed(access) ? kOrSoftDirty : "")};
}

AccessRefusal ExplainNotDumpable(const std::string& attempt, const Points& points,
                                 const TargetAccess& access) {
  return {
      "not_dumpable",
      absl::StrCat(attempt,
                   "; the target runs as the same user but is not dumpable (set-user-ID, file "
                   "capabilities, an unreadable executable or prctl)"),
      absl::StrCat("add ", MissingCapabilities(points, access),
                   " to the exporter, or start the target without file capabilities and set-user-ID",
                   AnyFailsYama(points, access) ? absl::StrCat(" and ", LowerScope(points, access)) : "")};
}

AccessRefusal ExplainTargetCapabilities(const std::string& attempt, const Points& points,
                                        const TargetAccess& access) {
  const CapabilitySet more(access.target.permitted.bits() & ~access.own.effective.bits());
  return {
      "capability",
      absl::StrCat(attempt, "; the target holds capabilities that the exporter does not: ",
                   absl::StrJoin(more.Names(), ", ")),
      absl::StrCat("add CAP_SYS_PTRACE to the exporter, or drop the target's capabilities",
                   AnyFailsYama(points, access) ? absl::StrCat(" and ", LowerScope(points, access)) : "")};
}

AccessRefusal ExplainUnexpected(const std::string& attempt) {
  return {"error", absl::StrCat(attempt, "; user and capabilities would suffice"),
          "look for a denial of a security module (AppArmor, SELinux) in the kernel log"};
}

AccessRefusal ExplainOtherNamespace(const std::string& attempt, const Points& points,
                                    const TargetAccess& access) {
  if (OutOfReach(access)) {
    return {"capability",
            absl::StrCat(attempt,
                         "; the target lives in another user namespace, which the exporter's capabilities do "
                         "not reach"),
            "run the exporter in the target's user namespace, or as root in the initial one"};
  }
  return {"capability", absl::StrCat(attempt, "; the target lives in a user namespace of its own"),
          absl::StrCat("add ", MissingCapabilities(points, access), " to the exporter")};
}

AccessRefusal ExplainOtherUser(const std::string& attempt, const Points& points, const TargetAccess& access) {
  const std::string missing = MissingCapabilities(points, access);
  const bool same_uid = access.target.uids[1] == access.own.uids[3];
  const auto who = [same_uid](uint32_t uid, uint32_t gid) {
    return same_uid ? absl::StrCat("uid ", uid, " with gid ", gid) : absl::StrCat("uid ", uid);
  };
  return {access.own.effective.Has(Capability::kSysPtrace) ? "capability" : "other_user",
          absl::StrCat(attempt, "; the target runs as ", who(access.target.uids[1], access.target.gids[1]),
                       ", the exporter as ", who(access.own.uids[3], access.own.gids[3]),
                       missing.empty() ? "" : absl::StrCat(" without ", missing)),
          access.not_dumpable
              ? absl::StrCat("add ", missing,
                             " to the exporter; its user alone would not do, as the target is not dumpable")
              : absl::StrCat(RunAs(points, access), ", or add ", missing, " to it")};
}

// The one sentence for points that user, capabilities or Yama refused.
AccessRefusal ExplainDenied(const Points& points, const TargetAccess& access) {
  const std::string attempt = Attempt(points.front(), AccessError(points.front(), access.errors));
  const bool may_trace = MayTraceAnyone(access);
  const bool trace_refused = AnyTraces(points) && !may_trace;
  const bool refused = trace_refused || AnyFailsMode(points, access);
  if (refused && access.other_user_namespace) return ExplainOtherNamespace(attempt, points, access);
  if (!SameUser(access)) {
    return refused ? ExplainOtherUser(attempt, points, access) : ExplainUnexpected(attempt);
  }
  if (access.not_dumpable && refused) return ExplainNotDumpable(attempt, points, access);
  if (trace_refused && !access.own.effective.Contains(access.target.permitted)) {
    return ExplainTargetCapabilities(attempt, points, access);
  }
  if (AnyFailsYama(points, access)) return ExplainYama(attempt, points, access);
  return ExplainUnexpected(attempt);
}

// What the errno alone explains; an empty reason otherwise.
AccessRefusal ExplainError(AccessPoint point, const TargetAccess& access) {
  const int error = AccessError(point, access.errors);
  const std::string attempt = Attempt(point, error);
  if (error == ENOENT || error == ESRCH) return {"target_gone", attempt, ""};
  if (point == AccessPoint::kAttach && error == ENOSYS && access.own.seccomp_mode == 0) {
    return {"kernel", absl::StrCat(attempt, "; pidfd_getfd needs Linux 5.6"), "use Linux 6.7 or later"};
  }
  if (error != EACCES && error != EPERM) return {"error", attempt, ""};
  return {};
}

// A filter answers before the kernel looks at permissions: would they suffice, as far as the others tell?
bool AttachWouldFailAnyway(const TargetAccess& access) {
  return !PassesYama(AccessPoint::kAttach, access) || (access.errors.maps != 0 && !MayTraceAnyone(access));
}

}  // namespace

bool SoftDirtyMayBeUsed(const TargetAccess& access) {
  const AccessErrors& errors = access.errors;
  return errors.maps == 0 && errors.pagemap == 0 && errors.clear_refs == 0 && !access.foreign_soft_dirty;
}

std::vector<AccessRefusal> ExplainRefusals(absl::Span<const AccessPoint> points, const TargetAccess& access) {
  std::vector<AccessRefusal> refusals;
  Points denied;
  for (const AccessPoint point : points) {
    if (AccessError(point, access.errors) == 0) continue;
    if (point == AccessPoint::kAttach &&
        (access.own_filter_denies_ptrace || access.own_filter_denies_pidfd_getfd)) {
      refusals.push_back(ExplainOwnFilter(access));
      if (AttachWouldFailAnyway(access)) denied.push_back(point);
      continue;
    }
    AccessRefusal refusal = ExplainError(point, access);
    if (!refusal.reason.empty()) return {std::move(refusal)};
    denied.push_back(point);
  }
  // Nothing but a boot takes this one away, whoever asks.
  const auto forbidden = std::find_if(denied.begin(), denied.end(), [&](AccessPoint point) {
    return IsAttachCheck(point) && access.yama_scope.value_or(0) >= 3;
  });
  if (forbidden != denied.end()) {
    refusals.insert(refusals.begin(),
                    ExplainYama(Attempt(*forbidden, AccessError(*forbidden, access.errors)), denied, access));
    denied.erase(std::remove_if(denied.begin(), denied.end(), IsAttachCheck), denied.end());
  }
  if (!denied.empty()) refusals.push_back(ExplainDenied(denied, access));
  return refusals;
}

AccessRefusal JoinRefusals(const std::vector<AccessRefusal>& refusals) {
  if (refusals.empty()) return {};
  AccessRefusal joined = refusals.front();
  for (size_t i = 1; i < refusals.size(); ++i) {
    if (refusals[i].remedy.empty()) continue;
    absl::StrAppend(&joined.remedy, joined.remedy.empty() ? "" : "; and ", refusals[i].remedy);
  }
  return joined;
}

AccessRefusal ExplainRefusal(AccessPoint point, const TargetAccess& access) {
  return JoinRefusals(ExplainRefusals({point}, access));
}

}  // namespace mempulse
