#include "collectors/targets/process_facts.h"

#include "absl/algorithm/container.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "collectors/targets/process_stat.h"

namespace mempulse {
namespace {

constexpr size_t kCommandLineLimit = 4096;
constexpr size_t kCgroupLimit = 64 << 10;
constexpr size_t kStatusLimit =
    4096;  // the lines that are wanted come before the list of groups, which may be long

// The `column`th number after "KEY:" in the text of /proc/PID/status.
bool FindNumber(absl::string_view status, absl::string_view key, size_t column, uint32_t* number) {
  for (absl::string_view line : absl::StrSplit(status, '\n')) {
    if (!absl::ConsumePrefix(&line, key) || !absl::ConsumePrefix(&line, ":")) continue;
    const std::vector<absl::string_view> columns =
        absl::StrSplit(line, absl::ByAnyChar("\t "), absl::SkipEmpty());
    return column < columns.size() && absl::SimpleAtoi(columns[column], number);
  }
  return false;
}

absl::Status AddStatus(const Host& host, ProcessFacts* facts) {
  constexpr size_t kEffective = 1;
  const absl::StatusOr<std::string> status = host.ReadProcFile(facts->id.pid, "status", kStatusLimit);
  if (!status.ok()) return status.status();
  uint32_t group_leader = 0;
  if (!FindNumber(*status, "Tgid", 0, &group_leader) ||
      !FindNumber(*status, "Uid", kEffective, &facts->uid) ||
      !FindNumber(*status, "Gid", kEffective, &facts->gid)) {
    return absl::InvalidArgumentError(absl::StrCat("status of ", facts->id.pid, ": no Tgid, Uid or Gid"));
  }
  if (group_leader != static_cast<uint32_t>(facts->id.pid)) {
    return absl::InvalidArgumentError(
        absl::StrCat(facts->id.pid, " is a thread of process ", group_leader, ", no process"));
  }
  return absl::OkStatus();
}

// A file that may not be read leaves its fact empty; a process that is gone ends the reading.
absl::Status AddText(const absl::StatusOr<std::string>& text, std::string* fact) {
  if (text.ok()) *fact = *text;
  return absl::IsNotFound(text.status()) ? text.status() : absl::OkStatus();
}

absl::Status AddReadable(const Host& host, ProcessFacts* facts) {
  const pid_t pid = facts->id.pid;
  // A zombie and a kernel thread have no executable: not there is not gone.
  if (const absl::StatusOr<std::string> exe = ReadExecutable(host, pid); exe.ok()) facts->exe = *exe;
  std::string arguments;
  absl::Status status = AddText(ReadCommandLine(host, pid), &arguments);
  if (status.ok()) status = AddText(ReadCgroup(host, pid), &facts->cgroup);
  if (!arguments.empty()) facts->command_line = absl::StrSplit(arguments, '\0');
  return status;
}

}  // namespace

std::string ParseCgroup(absl::string_view text) {
  std::string unified;
  for (absl::string_view line : absl::StrSplit(text, '\n', absl::SkipEmpty())) {
    const std::vector<absl::string_view> fields = absl::StrSplit(line, absl::MaxSplits(':', 2));
    if (fields.size() != 3) continue;
    const std::vector<absl::string_view> controllers = absl::StrSplit(fields[1], ',');
    if (absl::c_linear_search(controllers, "memory")) return std::string(fields[2]);
    if (fields[0] == "0" && fields[1].empty()) unified = std::string(fields[2]);
  }
  return unified;
}

absl::StatusOr<std::string> ReadExecutable(const Host& host, pid_t pid) {
  absl::StatusOr<std::string> exe = host.ReadLink(host.ProcPath(pid, "exe"));
  if (!exe.ok()) return exe.status();
  return std::string(absl::StripSuffix(*exe, " (deleted)"));
}

absl::StatusOr<std::string> ReadCommandLine(const Host& host, pid_t pid) {
  absl::StatusOr<std::string> text = host.ReadProcFile(pid, "cmdline", kCommandLineLimit);
  if (!text.ok()) return text.status();
  text->resize(text->find_last_not_of('\0') + 1);
  return text;
}

absl::StatusOr<std::string> ReadCgroup(const Host& host, pid_t pid) {
  const absl::StatusOr<std::string> text = host.ReadProcFile(pid, "cgroup", kCgroupLimit);
  if (!text.ok()) return text.status();
  return ParseCgroup(*text);
}

absl::StatusOr<ProcessFacts> ReadProcessFacts(const Host& host, pid_t pid) {
  const absl::StatusOr<ProcessStat> stat = ReadProcessStat(host, pid);
  if (!stat.ok()) return stat.status();
  ProcessFacts facts;
  facts.id = stat->id;
  facts.parent = stat->parent;
  facts.comm = stat->comm;
  facts.state = stat->state;
  facts.kernel_thread = stat->kernel_thread;
  absl::Status status = AddStatus(host, &facts);
  if (status.ok()) status = AddReadable(host, &facts);
  if (!status.ok()) return status;
  // The files were opened one by one: only an unchanged start time makes them one process.
  const absl::StatusOr<ProcessStat> after = ReadProcessStat(host, pid);
  if (!after.ok()) return after.status();
  if (after->id == facts.id) return facts;
  return absl::NotFoundError(absl::StrCat("process ", pid, " was replaced by another while it was read"));
}

}  // namespace mempulse
