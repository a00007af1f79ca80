#include "collectors/pages/tracker_decision.h"

#include <cerrno>
#include <cstring>
#include <initializer_list>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "collectors/host/errno_status.h"

namespace mempulse {
namespace {

// ---- the kernel's checks, each as far as the facts tell ----

bool SameUser(const TargetAccess& access) {
  for (int i = 0; i < 3; ++i) {
    if (access.target.uids[i] != access.own.uids[3] || access.target.gids[i] != access.own.gids[3])
      return false;
  }
  return true;
}

bool MayTraceAnyone(const TargetAccess& access) {
  return access.own.effective.Has(Capability::kSysPtrace) && !access.other_user_namespace;
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
  return scope == 1 && access.is_descendant;
}

// ---- sentences ----

std::string Attempt(AccessPoint point, int error) {
  const char* text = strerrordesc_np(error);
  const char* name = strerrorname_np(error);
  return absl::StrCat(
      point == AccessPoint::kAttach ? "asking for the permission to trace the target"
                                    : absl::StrCat("opening ", AccessPointName(point), " of the target"),
      ": ", text != nullptr ? text : "unknown error", " (", name != nullptr ? name : "?", ")");
}

std::string RunAs(const TargetAccess& access) {
  return absl::StrCat("run the exporter as uid ", access.target.uids[1], " and gid ", access.target.gids[1]);
}

// The capabilities that let somebody else's process through at this point, as words.
std::string MissingCapabilities(AccessPoint point, const TargetAccess& access) {
  std::vector<std::string> names;
  if (!access.own.effective.Has(Capability::kSysPtrace))
    names.push_back(CapabilityName(Capability::kSysPtrace));
  if (!PassesFileMode(point, access)) {
    names.push_back(CapabilityName(point == AccessPoint::kClearRefs ? Capability::kDacOverride
                                                                    : Capability::kDacReadSearch));
  }
  return absl::StrJoin(names, " and ");
}

AccessRefusal ExplainYama(const std::string& attempt, const TargetAccess& access) {
  const int scope = access.yama_scope.value_or(0);
  const std::string detail = absl::StrCat(attempt, "; kernel.yama.ptrace_scope is ", scope);
  if (scope >= 3) {
    return {"yama", absl::StrCat(detail, ", which forbids tracing to everybody until the next boot"),
            "boot with kernel.yama.ptrace_scope below 3, or use softdirty, which Yama does not restrict"};
  }
  return {"yama", absl::StrCat(detail, " and the exporter has no CAP_SYS_PTRACE"),
          absl::StrCat("add CAP_SYS_PTRACE to the exporter, ",
                       scope == 1 ? "or set kernel.yama.ptrace_scope to 0"
                                  : "or set kernel.yama.ptrace_scope to 0 or 1",
                       ", or use softdirty, which Yama does not restrict")};
}

AccessRefusal ExplainNotDumpable(const std::string& attempt, AccessPoint point, const TargetAccess& access) {
  return {"not_dumpable",
          absl::StrCat(attempt,
                       "; the target runs as the same user but is not dumpable (set-user-ID, file "
                       "capabilities, an unreadable executable or prctl)"),
          absl::StrCat("add ", MissingCapabilities(point, access),
                       " to the exporter, or start the target without file capabilities and set-user-ID")};
}

AccessRefusal ExplainUnexpected(const std::string& attempt, AccessPoint point, const TargetAccess& access) {
  if (access.other_user_namespace) {
    return {"capability",
            absl::StrCat(attempt,
                         "; the target lives in another user namespace, which the "
                         "exporter's capabilities do not reach"),
            "run the exporter in the target's user namespace or in the initial one"};
  }
  if (point == AccessPoint::kAttach && access.own.seccomp_mode != 0) {
    return {"seccomp", absl::StrCat(attempt, "; the exporter itself runs under a seccomp filter"),
            "allow pidfd_getfd and ptrace in the seccomp profile of the exporter's container"};
  }
  return {"error", absl::StrCat(attempt, "; user and capabilities would suffice"),
          "look for a denial of a security module (AppArmor, SELinux) in the kernel log"};
}

TrackerSupport Refused(TrackerKind kind, AccessRefusal refusal) {
  return {kind, false, std::move(refusal.reason), std::move(refusal.detail), std::move(refusal.remedy)};
}

// What only matters to a mechanism that makes the target run a system call; an empty reason when nothing
// does.
AccessRefusal ExplainAttachHindrance(const TargetAccess& access, bool attach_allowed) {
  if (!attach_allowed) {
    return {"not_allowed", "the configuration does not allow injecting a userfaultfd into this target",
            "set attach: true for its target group"};
  }
  if (access.is_32_bit) return {"architecture", "the target is a 32-bit program", ""};
  if (access.target.tracer != 0) {
    return {"foreign_tracker", absl::StrCat("process ", access.target.tracer, " traces the target already"),
            "end the debugger or strace that is attached to the target"};
  }
  if (access.foreign_write_protection) {
    return {"foreign_tracker", "a userfaultfd of somebody else write-protects the target's memory",
            "stop the other exporter or checkpointer that watches this target"};
  }
  const bool may_suspend = access.own.effective.Has(Capability::kSysAdmin) && access.own.seccomp_mode == 0;
  if (access.target.seccomp_mode != 0 && !may_suspend) {
    return {"seccomp",
            absl::StrCat(
                "the target runs under a seccomp filter (Seccomp: ", access.target.seccomp_mode,
                "); the default profile of container engines denies userfaultfd, another filter might kill "
                "the target"),
            access.own.effective.Has(Capability::kSysAdmin)
                ? "run the exporter without a seccomp filter of its own, so that it may suspend the target's"
                : "run the target without a seccomp profile, or run the exporter with CAP_SYS_ADMIN and "
                  "without a "
                  "filter of its own, or use softdirty"};
  }
  return {};
}

std::initializer_list<AccessPoint> PointsOf(TrackerKind kind) {
  static constexpr std::initializer_list<AccessPoint> kWriteProtectPoints = {
      AccessPoint::kMaps, AccessPoint::kAttach, AccessPoint::kPagemap, AccessPoint::kMem};
  static constexpr std::initializer_list<AccessPoint> kSoftDirtyPoints = {
      AccessPoint::kMaps, AccessPoint::kPagemap, AccessPoint::kClearRefs};
  static constexpr std::initializer_list<AccessPoint> kHashDiffPoints = {
      AccessPoint::kMaps, AccessPoint::kPagemap, AccessPoint::kMem};
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

absl::string_view AccessPointName(AccessPoint point) {
  switch (point) {
    case AccessPoint::kMaps:
      return "maps";
    case AccessPoint::kSmaps:
      return "smaps";
    case AccessPoint::kPagemap:
      return "pagemap";
    case AccessPoint::kMem:
      return "mem";
    case AccessPoint::kClearRefs:
      return "clear_refs";
    case AccessPoint::kAttach:
      return "attach";
  }
  return "";
}

int AccessError(AccessPoint point, const AccessErrors& errors) {
  switch (point) {
    case AccessPoint::kMaps:
      return errors.maps;
    case AccessPoint::kSmaps:
      return errors.smaps;
    case AccessPoint::kPagemap:
      return errors.pagemap;
    case AccessPoint::kMem:
      return errors.mem;
    case AccessPoint::kClearRefs:
      return errors.clear_refs;
    case AccessPoint::kAttach:
      return errors.attach;
  }
  return 0;
}

AccessRefusal ExplainRefusal(AccessPoint point, const TargetAccess& access) {
  const int error = AccessError(point, access.errors);
  const std::string attempt = Attempt(point, error);
  if (error == ENOENT || error == ESRCH) return {"target_gone", attempt, ""};
  if (point == AccessPoint::kAttach && error == ENOSYS) {
    return {"kernel", absl::StrCat(attempt, "; pidfd_getfd needs Linux 5.6"), "use Linux 6.7 or later"};
  }
  if (error != EACCES && error != EPERM) return {"error", attempt, ""};
  const bool may_trace = MayTraceAnyone(access);
  if (!PassesYama(point, access) && (access.yama_scope.value_or(0) >= 3 || may_trace || SameUser(access))) {
    return ExplainYama(attempt, access);
  }
  const bool trace_refused = IsTraceCheck(point) && !may_trace;
  const bool mode_refused = !PassesFileMode(point, access);
  if (SameUser(access)) {
    if (access.not_dumpable && (trace_refused || mode_refused)) {
      return ExplainNotDumpable(attempt, point, access);
    }
    if (trace_refused && !access.own.effective.Contains(access.target.permitted)) {
      return {"capability",
              absl::StrCat(
                  attempt, "; the target holds capabilities that the exporter does not: ",
                  absl::StrJoin(
                      CapabilitySet(access.target.permitted.bits() & ~access.own.effective.bits()).Names(),
                      ", ")),
              "add CAP_SYS_PTRACE to the exporter, or drop the target's capabilities"};
    }
    return ExplainUnexpected(attempt, point, access);
  }
  if (!trace_refused && !mode_refused) return ExplainUnexpected(attempt, point, access);
  const std::string missing = MissingCapabilities(point, access);
  const std::string detail =
      absl::StrCat(attempt, "; the target runs as uid ", access.target.uids[1], ", the exporter as uid ",
                   access.own.uids[3], missing.empty() ? "" : absl::StrCat(" without ", missing));
  if (access.other_user_namespace) return ExplainUnexpected(attempt, point, access);
  return {access.own.effective.Has(Capability::kSysPtrace) ? "capability" : "other_user", detail,
          absl::StrCat(RunAs(access), ", or add ", missing, " to it")};
}

TrackerSupport DecideSupport(const TrackerSupport& own, const TargetAccess& access, bool attach_allowed) {
  if (access.gone) return Refused(own.kind, {"target_gone", "the target has exited", ""});
  // A filter of our own that denies userfaultfd says nothing about the target, which is to create it.
  const bool only_denied_to_us = own.kind == TrackerKind::kWriteProtect && own.reason == "seccomp";
  if (!own.supported && !only_denied_to_us) return own;
  if (own.kind == TrackerKind::kWriteProtect) {
    AccessRefusal hindrance = ExplainAttachHindrance(access, attach_allowed);
    if (!hindrance.reason.empty()) return Refused(own.kind, std::move(hindrance));
  }
  for (const AccessPoint point : PointsOf(own.kind)) {
    if (AccessError(point, access.errors) != 0) return Refused(own.kind, ExplainRefusal(point, access));
  }
  return {own.kind, true, "ok", "", ""};
}

}  // namespace mempulse
