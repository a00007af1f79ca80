#include "tests/kernels/remedy.h"

#include <sys/syscall.h>

#include <regex>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"

namespace mempulse {
namespace {

bool RunAsAnother(const std::string& text, RemedyWay* way) {
  std::smatch match;
  if (std::regex_search(text, match, std::regex("as uid ([0-9]+) and gid ([0-9]+)"))) {
    way->condition.exporter.uid = static_cast<uint32_t>(std::stoul(match[1]));
    way->condition.exporter.gid = static_cast<uint32_t>(std::stoul(match[2]));
    return true;
  }
  return false;
}

bool AddCapabilities(const std::string& text, RemedyWay* way) {
  if (!absl::StrContains(text, "add CAP_") && !absl::StrContains(text, "with CAP_")) return false;
  // Words after a comma explain.
  const std::string command = text.substr(0, text.find(','));
  const std::regex name("CAP_[A-Z_]+");
  for (std::sregex_iterator it(command.begin(), command.end(), name), end; it != end; ++it) {
    way->condition.exporter.capabilities |= CapabilityBit(it->str());
  }
  return true;
}

bool LowerYama(const std::string& text, RemedyWay* way) {
  std::smatch match;
  if (!std::regex_search(text, match, std::regex("set kernel\\.yama\\.ptrace_scope to 0( or 1)?")))
    return false;
  way->condition.yama_scope = match[1].matched ? 1 : 0;
  return true;
}

bool LoosenFilters(const std::string& text, RemedyWay* way) {
  bool found = false;
  if (absl::StrContains(text, "run the target without a seccomp profile")) {
    way->condition.target.filter = ContainerFilter::kNone;
    found = true;
  }
  if (absl::StrContains(text, "without a seccomp filter of its own")) {
    way->condition.exporter.filter = ContainerFilter::kNone;
    found = true;
  }
  if (absl::StrContains(text, "allow ptrace and pidfd_getfd in the seccomp profile of the exporter")) {
    way->condition.exporter.allowed_calls = {SYS_ptrace, SYS_pidfd_getfd};
    found = true;
  }
  if (absl::StrContains(text, "use a seccomp profile that allows userfaultfd")) {
    way->condition.exporter.allowed_calls = {SYS_userfaultfd};
    found = true;
  }
  return found;
}

bool ChangeTarget(const std::string& text, RemedyWay* way) {
  if (absl::StrContains(text, "end the debugger")) {
    way->condition.target_traced = false;
  } else if (absl::StrContains(text, "stop the other exporter")) {
    way->condition.userfaultfd = OtherUserfaultfd::kNone;
    way->condition.target_claimed = false;
  } else if (absl::StrContains(text, "start the target without file capabilities")) {
    way->condition.target_dumpable = true;
  } else if (absl::StrContains(text, "drop the target's capabilities")) {
    way->condition.target.capabilities = 0;
  } else {
    return false;
  }
  return true;
}

bool ChangeNamespace(const std::string& text, RemedyWay* way) {
  if (absl::StrContains(text, "in the target's user namespace")) {
    way->condition.exporter.own_user_namespace = false;
    way->condition.target.own_user_namespace = false;
    return true;
  }
  if (!absl::StrContains(text, "as root in the initial one")) return false;
  way->condition.exporter = Role{0, 0, AllCapabilities(), ContainerFilter::kNone, {}, false};
  return true;
}

bool NotHere(const std::string& text) {
  return absl::StartsWith(text, "use Linux ") || absl::StrContains(text, "boot with ") ||
         absl::StrContains(text, "built with CONFIG_") || text == "softdirty or hashdiff";
}

void Follow(const std::string& text, RemedyWay* way) {
  way->understood = true;
  if (absl::StartsWith(text, "use softdirty")) {
    way->use_softdirty = true;
  } else if (NotHere(text)) {
    way->not_here = true;
  } else {
    bool found = RunAsAnother(text, way);
    for (const auto& step : {AddCapabilities, LowerYama, LoosenFilters, ChangeTarget, ChangeNamespace}) {
      found |= step(text, way);
    }
    way->understood = found;
  }
}

}  // namespace

std::vector<RemedyWay> WaysOf(const std::string& remedy, const Condition& condition) {
  std::vector<std::vector<std::string>> parts;
  const std::vector<std::string> sentences = absl::StrSplit(remedy, "; and ");
  parts.reserve(sentences.size());
  for (const std::string& part : sentences) parts.push_back(absl::StrSplit(part, ", or "));
  std::vector<RemedyWay> ways;
  for (size_t varied = 0; varied < parts.size(); ++varied) {
    for (size_t choice = varied == 0 ? 0 : 1; choice < parts[varied].size(); ++choice) {
      RemedyWay way;
      way.condition = condition;
      std::vector<std::string> texts;
      bool understood = true;
      for (size_t part = 0; part < parts.size(); ++part) {
        const std::string& text = parts[part][part == varied ? choice : 0];
        Follow(text, &way);
        understood &= way.understood;
        texts.push_back(text);
      }
      way.understood = understood;
      way.text = absl::StrJoin(texts, " + ");
      ways.push_back(std::move(way));
    }
  }
  return ways;
}

}  // namespace mempulse
