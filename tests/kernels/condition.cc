#include "tests/kernels/condition.h"

#include <functional>
#include <map>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "collectors/host/capabilities.h"

namespace mempulse {
namespace {

constexpr int kCapabilities = 41;
// What Docker leaves to root in a container; podman leaves less.
constexpr const char* kContainerRoot[] = {
    "CHOWN",   "DAC_OVERRIDE",     "FOWNER",  "FSETID",     "KILL",  "SETGID",      "SETUID",
    "SETPCAP", "NET_BIND_SERVICE", "NET_RAW", "SYS_CHROOT", "MKNOD", "AUDIT_WRITE", "SETFCAP"};

void Become(uint32_t uid, uint32_t gid, uint64_t capabilities, Role* role) {
  role->uid = uid;
  role->gid = gid;
  role->capabilities = capabilities;
}

uint64_t ContainerRootCapabilities() {
  uint64_t bits = 0;
  for (const char* name : kContainerRoot) bits |= CapabilityBit(name);
  return bits;
}

using Words = std::map<std::string, std::function<void(Condition*)>>;

Words ExporterWords() {
  return {
      {"root", [](Condition* c) { Become(0, 0, AllCapabilities(), &c->exporter); }},
      {"containerroot", [](Condition* c) { Become(0, 0, ContainerRootCapabilities(), &c->exporter); }},
      {"same", [](Condition* c) { Become(kTargetUser, kTargetUser, 0, &c->exporter); }},
      {"samegid0", [](Condition* c) { Become(kTargetUser, 0, 0, &c->exporter); }},
      {"other", [](Condition* c) { Become(kOtherUser, kOtherUser, 0, &c->exporter); }},
      {"docker", [](Condition* c) { c->exporter.filter = ContainerFilter::kDocker; }},
      {"podman", [](Condition* c) { c->exporter.filter = ContainerFilter::kPodman; }},
      {"userns", [](Condition* c) { c->exporter.own_user_namespace = true; }},
  };
}

Words TargetWords() {
  return {
      {"plain", [](Condition*) {}},
      {"userns", [](Condition* c) { c->target.own_user_namespace = true; }},
      {"child", [](Condition* c) { c->target_is_child = true; }},
      {"docker", [](Condition* c) { c->target.filter = ContainerFilter::kDocker; }},
      {"undumpable", [](Condition* c) { c->target_dumpable = false; }},
      {"traced", [](Condition* c) { c->target_traced = true; }},
      {"claimed", [](Condition* c) { c->target_claimed = true; }},
      {"userfaultfd", [](Condition* c) { c->userfaultfd = OtherUserfaultfd::kProtects; }},
      {"userfaultfd-missing", [](Condition* c) { c->userfaultfd = OtherUserfaultfd::kServesMissing; }},
  };
}

std::string Parse(const std::string& text, const Words& words, Role* role, Condition* condition) {
  const std::vector<std::string> list = absl::StrSplit(text, ' ', absl::SkipEmpty());
  for (const std::string& word : list) {
    if (word[0] == '+') {
      const uint64_t bit = CapabilityBit(word.substr(1));
      if (bit == 0) return absl::StrCat("no capability ", word);
      role->capabilities |= bit;
      continue;
    }
    const auto known = words.find(word);
    if (known == words.end()) return absl::StrCat("unknown word ", word);
    known->second(condition);
  }
  return "";
}

}  // namespace

uint64_t AllCapabilities() { return (uint64_t{1} << kCapabilities) - 1; }

uint64_t CapabilityBit(const std::string& name) {
  const std::string wanted = absl::StrCat("CAP_", absl::StripPrefix(name, "CAP_"));
  for (int number = 0; number < kCapabilities; ++number) {
    if (CapabilityName(number) == wanted) return uint64_t{1} << number;
  }
  return 0;
}

std::string ParseExporter(const std::string& words, Condition* condition) {
  return Parse(words, ExporterWords(), &condition->exporter, condition);
}

std::string ParseTarget(const std::string& words, Condition* condition) {
  Become(kTargetUser, kTargetUser, 0, &condition->target);
  return Parse(words, TargetWords(), &condition->target, condition);
}

std::string ParseSettings(const std::string& words, Condition* condition) {
  const std::vector<std::string> list = absl::StrSplit(words, ' ', absl::SkipEmpty());
  for (const std::string& word : list) {
    const std::pair<std::string, std::string> setting = absl::StrSplit(word, absl::MaxSplits('=', 1));
    int* value = setting.first == "yama"       ? &condition->yama_scope
                 : setting.first == "paranoid" ? &condition->perf_event_paranoid
                                               : nullptr;
    if (value == nullptr || !absl::SimpleAtoi(setting.second, value)) {
      return absl::StrCat("unknown setting ", word);
    }
  }
  return "";
}

std::string ConditionText(const Condition& condition) {
  const auto role = [](const Role& who) {
    return absl::StrCat(who.uid, ":", who.gid, ":", who.capabilities, ":", static_cast<int>(who.filter), ":",
                        absl::StrJoin(who.allowed_calls, ","), ":", who.own_user_namespace ? 1 : 0);
  };
  return absl::StrCat(
      role(condition.exporter), " ", role(condition.target), " ", condition.target_is_child ? 1 : 0,
      condition.target_dumpable ? 1 : 0, condition.target_traced ? 1 : 0, condition.target_claimed ? 1 : 0,
      static_cast<int>(condition.userfaultfd), condition.yama_scope, condition.perf_event_paranoid);
}

}  // namespace mempulse
