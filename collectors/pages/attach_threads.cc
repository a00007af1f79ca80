#include "collectors/pages/attach_threads.h"

#include <sys/syscall.h>

#include <algorithm>
#include <array>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace mempulse {
namespace {

constexpr size_t kMostThreadsRead = 64;

// Flags in field 9 of stat.
constexpr uint64_t kFlagExiting = 0x4;
constexpr uint64_t kFlagIoWorker = 0x10;
constexpr uint64_t kFlagUserWorker = 0x4000;
constexpr uint64_t kFlagKernelThread = 0x200000;

// Calls that report EINTR when a tracer stops them, although nothing has happened yet.
constexpr std::array<int64_t, 24> kEndsWithEintr = {
    SYS_read,           SYS_write,           SYS_readv,        SYS_writev,
    SYS_recvfrom,       SYS_sendto,          SYS_recvmsg,      SYS_sendmsg,
    SYS_recvmmsg,       SYS_sendmmsg,        SYS_accept,       SYS_accept4,
    SYS_connect,        SYS_epoll_wait,      SYS_epoll_pwait,  441,
    SYS_semop,          SYS_semtimedop,      SYS_io_getevents, SYS_io_pgetevents,
    SYS_io_uring_enter, SYS_rt_sigtimedwait, SYS_futex,        449};

// Calls that the kernel starts again by itself.
constexpr std::array<int64_t, 14> kRestartsByItself = {
    SYS_poll,          SYS_ppoll,          SYS_select, SYS_pselect6, SYS_nanosleep, SYS_clock_nanosleep,
    SYS_wait4,         SYS_waitid,         SYS_msgrcv, SYS_msgsnd,   SYS_pause,     SYS_flock,
    SYS_rt_sigsuspend, SYS_restart_syscall};

template <size_t N>
bool Holds(const std::array<int64_t, N>& list, int64_t value) {
  return std::find(list.begin(), list.end(), value) != list.end();
}

// "232 0x3 0x7ffd..." or "running" or "-1 0x... 0x...".
int64_t ParseSystemCall(absl::string_view text) {
  int64_t number = -1;
  const absl::string_view first = text.substr(0, text.find(' '));
  return absl::SimpleAtoi(first, &number) ? number : -1;
}

}  // namespace

absl::StatusOr<AttachThread> ParseAttachThread(absl::string_view stat_text) {
  const size_t open = stat_text.find(" (");
  const size_t close = stat_text.rfind(") ");  // the name in between may hold anything
  AttachThread thread;
  if (open == absl::string_view::npos || close == absl::string_view::npos ||
      !absl::SimpleAtoi(stat_text.substr(0, open), &thread.id)) {
    return absl::InvalidArgumentError("not a stat line");
  }
  const std::vector<absl::string_view> fields = absl::StrSplit(stat_text.substr(close + 2), ' ');
  uint64_t flags = 0;
  if (fields.size() < 7 || fields[0].size() != 1 || !absl::SimpleAtoi(fields[6], &flags)) {
    return absl::InvalidArgumentError("stat line is too short");
  }
  thread.state = (flags & kFlagExiting) != 0 ? 'X' : fields[0][0];
  constexpr size_t kCpuField = 36;  // field 39 of the whole line
  if (fields.size() > kCpuField && !absl::SimpleAtoi(fields[kCpuField], &thread.cpu)) thread.cpu = -1;
  thread.in_user_space_ever = (flags & (kFlagIoWorker | kFlagUserWorker | kFlagKernelThread)) == 0;
  return thread;
}

int AttachRank(const AttachThread& thread) {
  if (!thread.in_user_space_ever) return -1;
  switch (thread.state) {
    case 'S':
      if (Holds(kRestartsByItself, thread.system_call) || thread.system_call == SYS_futex) return 0;
      return IsSafeToRestart(thread.system_call) ? 1 : 3;
    case 'R':
      return 2;
    case 'T':
      return 4;
    default:
      return -1;
  }
}

absl::StatusOr<std::vector<AttachThread>> FindAttachThreads(const Host& host, pid_t pid, size_t limit) {
  absl::StatusOr<std::vector<pid_t>> ids = host.ListNumeric(absl::StrCat(pid, "/task"));
  if (!ids.ok()) return ids.status();
  std::vector<AttachThread> threads;
  for (size_t i = 0; i < ids->size() && i < kMostThreadsRead; ++i) {
    const std::string folder = absl::StrCat("task/", (*ids)[i], "/");
    absl::StatusOr<std::string> stat = host.ReadProcFile(pid, absl::StrCat(folder, "stat"), 4096);
    if (!stat.ok()) continue;  // ended meanwhile
    absl::StatusOr<AttachThread> thread = ParseAttachThread(*stat);
    if (!thread.ok()) continue;
    absl::StatusOr<std::string> call = host.ReadProcFile(pid, absl::StrCat(folder, "syscall"), 256);
    if (call.ok()) thread->system_call = ParseSystemCall(*call);
    if (AttachRank(*thread) >= 0) threads.push_back(*thread);
  }
  std::stable_sort(threads.begin(), threads.end(), [](const AttachThread& a, const AttachThread& b) {
    return AttachRank(a) < AttachRank(b);
  });
  if (threads.size() > limit) threads.resize(limit);
  return threads;
}

bool IsSafeToRestart(int64_t system_call) {
  return Holds(kEndsWithEintr, system_call) || Holds(kRestartsByItself, system_call);
}

}  // namespace mempulse
