#include "collectors/host/kernel_facts.h"

#include <limits>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"

namespace mempulse {
namespace {

std::string ReadTrimmed(const Host& host, const std::string& path) {
  const absl::StatusOr<std::string> text = host.ReadFile(path, 4096);
  return text.ok() ? std::string(absl::StripAsciiWhitespace(*text)) : std::string();
}

std::optional<int> ReadInt(const Host& host, absl::string_view name) {
  int value = 0;
  if (!absl::SimpleAtoi(ReadTrimmed(host, absl::StrCat(host.procfs(), "/sys/", name)), &value)) {
    return std::nullopt;
  }
  return value;
}

// "always [madvise] never" -> "madvise"
std::string BracketedWord(absl::string_view text) {
  const size_t open = text.find('[');
  const size_t close = text.find(']');
  if (open == absl::string_view::npos || close == absl::string_view::npos || close < open) return "";
  return std::string(text.substr(open + 1, close - open - 1));
}

bool ParseIds(absl::string_view text, std::array<uint32_t, 4>* ids) {
  const std::vector<absl::string_view> words =
      absl::StrSplit(text, absl::ByAnyChar("\t "), absl::SkipEmpty());
  if (words.size() != ids->size()) return false;
  for (size_t i = 0; i < words.size(); ++i) {
    if (!absl::SimpleAtoi(words[i], &(*ids)[i])) return false;
  }
  return true;
}

}  // namespace

KernelFacts ReadKernelFacts(const Host& host) {
  KernelFacts facts;
  facts.release = ReadTrimmed(host, absl::StrCat(host.procfs(), "/sys/kernel/osrelease"));
  const std::vector<absl::string_view> parts = absl::StrSplit(facts.release, absl::ByAnyChar(".-"));
  if (parts.size() >= 2 && absl::SimpleAtoi(parts[0], &facts.major)) {
    static_cast<void>(absl::SimpleAtoi(parts[1], &facts.minor));
  }
  facts.yama_scope = ReadInt(host, "kernel/yama/ptrace_scope");
  facts.perf_event_paranoid = ReadInt(host, "kernel/perf_event_paranoid");
  facts.unprivileged_userfaultfd = ReadInt(host, "vm/unprivileged_userfaultfd");
  facts.transparent_hugepage =
      BracketedWord(ReadTrimmed(host, absl::StrCat(host.sysfs(), "/kernel/mm/transparent_hugepage/enabled")));
  return facts;
}

absl::StatusOr<ProcessSecurity> ParseProcessSecurity(absl::string_view status_text) {
  ProcessSecurity facts;
  bool found = false;
  for (const absl::string_view line : absl::StrSplit(status_text, '\n')) {
    const size_t colon = line.find(':');
    if (colon == absl::string_view::npos) continue;
    const absl::string_view key = line.substr(0, colon);
    const absl::string_view value = absl::StripAsciiWhitespace(line.substr(colon + 1));
    int number = 0;
    if (key == "Uid") found = ParseIds(value, &facts.uids);
    if (key == "Gid") static_cast<void>(ParseIds(value, &facts.gids));
    if (key == "CapEff") static_cast<void>(ParseCapabilitySet(value, &facts.effective));
    if (key == "CapPrm") static_cast<void>(ParseCapabilitySet(value, &facts.permitted));
    if (key == "Seccomp" && absl::SimpleAtoi(value, &number)) facts.seccomp_mode = number;
    if (key == "NoNewPrivs") facts.no_new_privileges = value == "1";
    if (key == "TracerPid" && absl::SimpleAtoi(value, &number)) facts.tracer = number;
  }
  if (!found) return absl::InvalidArgumentError("process status without a Uid line");
  return facts;
}

std::optional<ResourceLimit> ParseResourceLimit(absl::string_view limits_text, absl::string_view name) {
  const auto parse = [](absl::string_view word, uint64_t* value) {
    *value = std::numeric_limits<uint64_t>::max();
    return word == "unlimited" || absl::SimpleAtoi(word, value);
  };
  for (absl::string_view line : absl::StrSplit(limits_text, '\n')) {
    if (!absl::ConsumePrefix(&line, name)) continue;
    const std::vector<absl::string_view> words = absl::StrSplit(line, ' ', absl::SkipEmpty());
    ResourceLimit limit;
    if (words.size() < 2 || !parse(words[0], &limit.soft) || !parse(words[1], &limit.hard))
      return std::nullopt;
    return limit;
  }
  return std::nullopt;
}

absl::StatusOr<ProcessSecurity> ReadProcessSecurity(const Host& host, pid_t pid) {
  const std::string path =
      pid == 0 ? absl::StrCat(host.procfs(), "/self/status") : host.ProcPath(pid, "status");
  absl::StatusOr<std::string> text = host.ReadFile(path, 64 << 10);
  if (!text.ok()) return text.status();
  return ParseProcessSecurity(*text);
}

}  // namespace mempulse
