#include "collectors/targets/process_stat.h"

#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"

namespace mempulse {
namespace {

constexpr size_t kStatLimit = 4096;
constexpr uint64_t kForkNoExecFlag = 0x00000040;
constexpr uint64_t kKernelThreadFlag = 0x00200000;

// Fields after the name, counted from the state (field 3 of the line).
constexpr size_t kParentField = 1;
constexpr size_t kFlagsField = 6;
constexpr size_t kStartTimeField = 19;
constexpr size_t kStartCodeField = 23;
constexpr size_t kEndCodeField = 24;
constexpr size_t kStartStackField = 25;

// The kernel writes 0 or 1 in place of an address that it does not show.
uint64_t Shown(uint64_t address) { return address <= 1 ? 0 : address; }

bool ParseFields(absl::string_view text, ProcessStat* stat) {
  const std::vector<absl::string_view> fields = absl::StrSplit(text, ' ', absl::SkipEmpty());
  if (fields.size() <= kStartStackField || fields[0].size() != 1) return false;
  stat->state = fields[0].front();
  uint64_t flags = 0;
  if (!absl::SimpleAtoi(fields[kParentField], &stat->parent) ||
      !absl::SimpleAtoi(fields[kFlagsField], &flags) ||
      !absl::SimpleAtoi(fields[kStartTimeField], &stat->id.start_time_ticks) ||
      !absl::SimpleAtoi(fields[kStartCodeField], &stat->start_code) ||
      !absl::SimpleAtoi(fields[kEndCodeField], &stat->end_code) ||
      !absl::SimpleAtoi(fields[kStartStackField], &stat->start_stack)) {
    return false;
  }
  stat->kernel_thread = (flags & kKernelThreadFlag) != 0;
  stat->forked_without_exec = (flags & kForkNoExecFlag) != 0;
  stat->start_code = Shown(stat->start_code);
  stat->end_code = Shown(stat->end_code);
  stat->start_stack = Shown(stat->start_stack);
  return true;
}

}  // namespace

absl::StatusOr<ProcessStat> ParseProcessStat(absl::string_view text) {
  // The name may hold anything, but nothing after it holds a parenthesis.
  const size_t open = text.find(" (");
  const size_t close = text.rfind(") ");
  ProcessStat stat;
  if (open == absl::string_view::npos || close == absl::string_view::npos || close < open + 2 ||
      !absl::SimpleAtoi(text.substr(0, open), &stat.id.pid) ||
      !ParseFields(absl::StripSuffix(text.substr(close + 2), "\n"), &stat)) {
    return absl::InvalidArgumentError(
        absl::StrCat("stat: cannot parse \"", absl::CHexEscape(text.substr(0, 160)), "\""));
  }
  stat.comm = std::string(text.substr(open + 2, close - open - 2));
  return stat;
}

absl::StatusOr<ProcessStat> ReadProcessStat(const Host& host, pid_t pid) {
  const absl::StatusOr<std::string> text = host.ReadProcFile(pid, "stat", kStatLimit);
  if (!text.ok()) return text.status();
  return ParseProcessStat(*text);
}

}  // namespace mempulse
