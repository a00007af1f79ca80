#include "exporter/ctl/doctor_report.h"

#include <algorithm>
#include <limits>
#include <optional>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "collectors/pages/tracker_decision.h"

namespace mempulse {
namespace {

constexpr AccessPoint kAccessPoints[] = {AccessPoint::kMaps, AccessPoint::kSmaps,     AccessPoint::kPagemap,
                                         AccessPoint::kMem,  AccessPoint::kClearRefs, AccessPoint::kAttach};

constexpr Capability kNamedCapabilities[] = {Capability::kDacOverride, Capability::kDacReadSearch,
                                             Capability::kSysPtrace,   Capability::kSysAdmin,
                                             Capability::kPerfmon,     Capability::kBpf};

DoctorRow FrameRow(const TargetAccess& access) {
  if (access.frames_visible) return {"frames", true, "ok", "", ""};
  if (access.errors.pagemap != 0) {
    return {"frames", false, "capability", "pagemap cannot be opened", "see pagemap"};
  }
  return {"frames", false, "capability", "the kernel hides page frame numbers without CAP_SYS_ADMIN",
          "nothing to do: no tracker needs them"};
}

std::string SettingText(const std::optional<int>& value) {
  return value.has_value() ? absl::StrCat(*value) : "absent";
}

std::string LimitText(uint64_t value) {
  return value == std::numeric_limits<uint64_t>::max() ? "unlimited" : absl::StrCat(value);
}

std::string SeccompText(int mode) {
  if (mode == 0) return "no seccomp filter";
  return mode == 1 ? "strict seccomp" : "a seccomp filter";
}

std::string IdentityText(const ProcessSecurity& who) {
  return absl::StrCat("uid ", who.uids[1], ", gid ", who.gids[1], ", ", SeccompText(who.seccomp_mode),
                      who.no_new_privileges ? ", no_new_privs" : "");
}

// Those that decide about a mechanism by name, the others by number.
std::string CapabilityText(const CapabilitySet& set) {
  if (set.empty()) return "none";
  std::vector<std::string> words;
  for (const Capability capability : kNamedCapabilities) {
    if (set.Has(capability)) words.push_back(CapabilityName(capability));
  }
  const size_t others = set.Names().size() - words.size();
  if (others > 0) words.push_back(absl::StrCat(words.empty() ? "" : "and ", others, " others"));
  return absl::StrJoin(words, " ");
}

void AppendFact(absl::string_view name, absl::string_view value, std::string* text) {
  absl::StrAppendFormat(text, "%-14s%s\n", name, value);
}

void AppendRows(absl::string_view title, const std::vector<DoctorRow>& rows, std::string* text) {
  absl::StrAppendFormat(text, "\n%-14s%-7s%s\n", title, "works", "why not");
  for (const DoctorRow& row : rows) {
    if (row.works) {
      absl::StrAppendFormat(text, "%-14syes\n", row.name);
      continue;
    }
    absl::StrAppendFormat(text, "%-14s%-7s%s: %s\n", row.name, "no", row.reason, row.detail);
    if (!row.remedy.empty()) absl::StrAppendFormat(text, "%21sremedy: %s\n", "", row.remedy);
  }
}

nlohmann::ordered_json RowsJson(const std::vector<DoctorRow>& rows) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const DoctorRow& row : rows) {
    list.push_back({{"name", row.name},
                    {"works", row.works},
                    {"reason", row.reason},
                    {"detail", row.detail},
                    {"remedy", row.remedy}});
  }
  return list;
}

nlohmann::ordered_json SettingJson(const std::optional<int>& value) {
  return value.has_value() ? nlohmann::ordered_json(*value) : nlohmann::ordered_json();
}

nlohmann::ordered_json LimitJson(const ResourceLimit& limit) {
  const auto number = [](uint64_t value) {
    return value == std::numeric_limits<uint64_t>::max() ? nlohmann::ordered_json()
                                                         : nlohmann::ordered_json(value);
  };
  return {{"soft", number(limit.soft)}, {"hard", number(limit.hard)}};
}

nlohmann::ordered_json IdentityJson(const ProcessSecurity& who) {
  return {{"uid", who.uids[1]},
          {"gid", who.gids[1]},
          {"seccomp", who.seccomp_mode},
          {"no_new_privs", who.no_new_privileges}};
}

// writeprotect by another way in.
DoctorRow CooperativeRow(const TrackerSupport& support) {
  return {"cooperative", support.supported, support.reason, support.detail, support.remedy};
}

nlohmann::ordered_json TargetJson(const DoctorFacts::OfTarget& target) {
  nlohmann::ordered_json json = {{"pid", target.process.id.pid},
                                 {"comm", absl::CHexEscape(target.process.comm)}};
  json.update(IdentityJson(target.access.target));
  json["capabilities"] = target.access.target.permitted.Names();
  json["tracer"] = target.access.target.tracer;
  json["dumpable"] = !target.access.not_dumpable;
  json["mechanisms"] = RowsJson(MechanismRows(target.mechanisms));
  json["cooperative"] = RowsJson({CooperativeRow(target.cooperative)})[0];
  json["access"] = RowsJson(AccessRows(target.access));
  return json;
}

}  // namespace

std::vector<DoctorRow> MechanismRows(const std::vector<TrackerSupport>& mechanisms) {
  std::vector<DoctorRow> rows;
  rows.reserve(mechanisms.size());
  for (const TrackerSupport& support : mechanisms) {
    rows.push_back({std::string(TrackerKindName(support.kind)), support.supported, support.reason,
                    support.detail, support.remedy});
  }
  return rows;
}

std::vector<DoctorRow> AccessRows(const TargetAccess& access) {
  std::vector<DoctorRow> rows;
  for (const AccessPoint point : kAccessPoints) {
    DoctorRow row{std::string(AccessPointName(point)), true, "ok", "", ""};
    if (access.gone) {
      row = {row.name, false, "target_gone", "the target has exited", ""};
    } else if (AccessError(point, access.errors) != 0) {
      AccessRefusal refusal = ExplainRefusal(point, access);
      row = {row.name, false, std::move(refusal.reason), std::move(refusal.detail),
             std::move(refusal.remedy)};
    }
    rows.push_back(std::move(row));
  }
  if (!access.gone) rows.push_back(FrameRow(access));
  return rows;
}

bool DoctorFoundTracker(const DoctorFacts& facts) {
  const std::vector<TrackerSupport>& mechanisms =
      facts.target.has_value() ? facts.target->mechanisms : facts.mechanisms;
  return std::any_of(mechanisms.begin(), mechanisms.end(),
                     [](const TrackerSupport& support) { return support.supported; });
}

std::string DoctorTable(const DoctorFacts& facts) {
  std::string text;
  AppendFact("kernel", absl::StrCat(facts.kernel.release, ", pages of ", facts.page_size_bytes, " bytes"),
             &text);
  AppendFact("user",
             absl::StrCat(IdentityText(facts.own),
                          facts.initial_user_namespace ? "" : ", in a user namespace of a container"),
             &text);
  AppendFact("capabilities", CapabilityText(facts.own.effective), &text);
  AppendFact(
      "settings",
      absl::StrCat("kernel.yama.ptrace_scope=", SettingText(facts.kernel.yama_scope),
                   " kernel.perf_event_paranoid=", SettingText(facts.kernel.perf_event_paranoid),
                   " vm.unprivileged_userfaultfd=", SettingText(facts.kernel.unprivileged_userfaultfd),
                   " transparent_hugepage=",
                   facts.kernel.transparent_hugepage.empty() ? "absent" : facts.kernel.transparent_hugepage),
      &text);
  AppendFact(
      "limits",
      absl::StrCat("open files ", LimitText(facts.open_files.soft), " of ", LimitText(facts.open_files.hard),
                   ", locked memory ", LimitText(facts.locked_memory_bytes.soft), " bytes"),
      &text);
  AppendRows("mechanism", MechanismRows(facts.mechanisms), &text);
  if (!facts.target.has_value()) return text;
  const DoctorFacts::OfTarget& target = *facts.target;
  absl::StrAppend(&text, "\ntarget ", target.process.id.pid, " (", absl::CHexEscape(target.process.comm),
                  "): ", IdentityText(target.access.target), "\n");
  std::vector<DoctorRow> mechanisms = MechanismRows(target.mechanisms);
  mechanisms.push_back(CooperativeRow(target.cooperative));
  AppendRows("mechanism", mechanisms, &text);
  AppendRows("access", AccessRows(target.access), &text);
  return text;
}

nlohmann::ordered_json DoctorJson(const DoctorFacts& facts) {
  nlohmann::ordered_json user = IdentityJson(facts.own);
  user["initial_user_namespace"] = facts.initial_user_namespace;
  nlohmann::ordered_json json;
  json["kernel"] = {{"release", facts.kernel.release},
                    {"page_size_bytes", facts.page_size_bytes},
                    {"yama_ptrace_scope", SettingJson(facts.kernel.yama_scope)},
                    {"perf_event_paranoid", SettingJson(facts.kernel.perf_event_paranoid)},
                    {"unprivileged_userfaultfd", SettingJson(facts.kernel.unprivileged_userfaultfd)},
                    {"transparent_hugepage", facts.kernel.transparent_hugepage}};
  json["user"] = std::move(user);
  json["capabilities"] = facts.own.effective.Names();
  json["limits"] = {{"open_files", LimitJson(facts.open_files)},
                    {"locked_memory_bytes", LimitJson(facts.locked_memory_bytes)}};
  json["mechanisms"] = RowsJson(MechanismRows(facts.mechanisms));
  if (facts.target.has_value()) json["target"] = TargetJson(*facts.target);
  return json;
}

}  // namespace mempulse
