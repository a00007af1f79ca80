#include "exporter/publish/own_state.h"

#include <unistd.h>

#include <limits>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"

namespace mempulse {
namespace {

// Fields of proc(5)'s stat after the name, which may hold spaces and parentheses: [0] is the state (field 3).
absl::StatusOr<std::vector<absl::string_view>> StatFields(absl::string_view stat) {
  const size_t name_end = stat.rfind(')');
  if (name_end == absl::string_view::npos) return absl::InternalError("stat has no name");
  std::vector<absl::string_view> fields =
      absl::StrSplit(stat.substr(name_end + 1), absl::ByAnyChar(" \n"), absl::SkipEmpty());
  if (fields.size() < 22) return absl::InternalError("stat is too short");
  return fields;
}

absl::StatusOr<uint64_t> Field(const std::vector<absl::string_view>& fields, size_t number_in_proc5) {
  uint64_t value = 0;
  if (!absl::SimpleAtoi(fields[number_in_proc5 - 3], &value)) {
    return absl::InternalError(absl::StrCat("stat field ", number_in_proc5, " is no number"));
  }
  return value;
}

absl::StatusOr<uint64_t> SoftFdLimit(absl::string_view limits) {
  for (absl::string_view line : absl::StrSplit(limits, '\n')) {
    if (!absl::ConsumePrefix(&line, "Max open files")) continue;
    const std::vector<absl::string_view> words = absl::StrSplit(line, ' ', absl::SkipEmpty());
    uint64_t value = 0;
    if (!words.empty() && words[0] == "unlimited") return std::numeric_limits<uint64_t>::max();
    if (!words.empty() && absl::SimpleAtoi(words[0], &value)) return value;
  }
  return absl::InternalError("limits has no open files");
}

absl::StatusOr<uint64_t> BootTime(absl::string_view stat) {
  for (absl::string_view line : absl::StrSplit(stat, '\n')) {
    uint64_t value = 0;
    if (absl::ConsumePrefix(&line, "btime ") && absl::SimpleAtoi(line, &value)) return value;
  }
  return absl::InternalError("stat has no btime");
}

}  // namespace

absl::StatusOr<ProcessUsage> ReadProcessUsage(const Host& host) {
  const absl::StatusOr<std::string> stat = host.ReadFile(absl::StrCat(host.procfs(), "/self/stat"));
  if (!stat.ok()) return stat.status();
  const absl::StatusOr<std::vector<absl::string_view>> fields = StatFields(*stat);
  if (!fields.ok()) return fields.status();
  const absl::StatusOr<std::string> limits = host.ReadFile(absl::StrCat(host.procfs(), "/self/limits"));
  if (!limits.ok()) return limits.status();
  const absl::StatusOr<uint64_t> max_fds = SoftFdLimit(*limits);
  const absl::StatusOr<std::string> boot = host.ReadFile(absl::StrCat(host.procfs(), "/stat"));
  if (!boot.ok()) return boot.status();
  const absl::StatusOr<uint64_t> boot_time = BootTime(*boot);
  const absl::StatusOr<std::vector<pid_t>> fds = host.ListNumeric("self/fd");
  const absl::StatusOr<uint64_t> user = Field(*fields, 14), system = Field(*fields, 15),
                                 threads = Field(*fields, 20), start = Field(*fields, 22),
                                 size = Field(*fields, 23), resident = Field(*fields, 24);
  for (const absl::Status& status :
       {max_fds.status(), boot_time.status(), fds.status(), user.status(), system.status(), threads.status(),
        start.status(), size.status(), resident.status()}) {
    if (!status.ok()) return status;
  }
  const double ticks = static_cast<double>(sysconf(_SC_CLK_TCK));
  ProcessUsage usage;
  usage.cpu_seconds = static_cast<double>(*user + *system) / ticks;
  usage.resident_bytes = *resident * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  usage.virtual_bytes = *size;
  usage.open_fds = fds->size();  // the listing leaves out 0 and holds one of its own: the two cancel out
  usage.max_fds = *max_fds;
  usage.start_time_seconds = static_cast<double>(*boot_time) + static_cast<double>(*start) / ticks;
  usage.threads = *threads;
  return usage;
}

const char* ConnectionRefusalName(ConnectionRefusal refusal) {
  return refusal == ConnectionRefusal::kAddressLimit ? "address_limit" : "overdue";
}

}  // namespace mempulse
