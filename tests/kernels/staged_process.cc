#include "tests/kernels/staged_process.h"

#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <linux/userfaultfd.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <new>
#include <utility>

#include "absl/strings/str_cat.h"
#include "collectors/pages/userfaultfd.h"

namespace mempulse {

// Children of a process that may have no right to end them: the runner does.
struct Offspring {
  pid_t target = 0;
  pid_t onlooker = 0;  // debugger, or another mempulse
};

namespace {

constexpr size_t kPage = 4096;

[[noreturn]] void Fail(const char* what) {
  std::fprintf(stderr, "staging failed: %s: %s\n", what, std::strerror(errno));
  _exit(100);
}

void Must(bool done, const char* what) {
  if (!done) Fail(what);
}

void WriteText(const char* path, const std::string& text) {
  const int fd = open(path, O_WRONLY | O_CLOEXEC);
  Must(fd >= 0 && write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size()), path);
  close(fd);
}

// Capabilities that survive an exec, and no others ever again.
void SetCapabilities(uint64_t bits) {
  __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
  const auto low = static_cast<uint32_t>(bits);
  const auto high = static_cast<uint32_t>(bits >> 32);
  __user_cap_data_struct data[2] = {{low, low, low}, {high, high, high}};
  Must(syscall(SYS_capset, &header, data) == 0, "capset");
  for (unsigned long number = 0; number < 41; ++number) {
    if ((bits >> number & 1) == 0) continue;
    Must(prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, number, 0, 0) == 0, "ambient capability");
  }
}

void EnterUserNamespace(const Role& role, bool dumpable) {
  Must(unshare(CLONE_NEWUSER) == 0, "unshare");
  Must(prctl(PR_SET_DUMPABLE, dumpable ? 1 : 0, 0, 0, 0) == 0, "dumpable");
  WriteText("/proc/self/setgroups", "deny");
  WriteText("/proc/self/uid_map", absl::StrCat("0 ", role.uid, " 1"));
  WriteText("/proc/self/gid_map", absl::StrCat("0 ", role.gid, " 1"));
}

void Become(const Role& role, bool dumpable) {
  for (unsigned long number = 0; number < 41; ++number) {
    if ((role.capabilities >> number & 1) == 0 && !role.own_user_namespace)
      prctl(PR_CAPBSET_DROP, number, 0, 0, 0);
  }
  Must(prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0) == 0, "keep capabilities");
  Must(setgroups(0, nullptr) == 0, "setgroups");
  Must(setresgid(role.gid, role.gid, role.gid) == 0, "setresgid");
  Must(setresuid(role.uid, role.uid, role.uid) == 0, "setresuid");
  SetCapabilities(role.capabilities);
  Must(prctl(PR_SET_DUMPABLE, dumpable ? 1 : 0, 0, 0, 0) == 0, "dumpable");
  if (role.own_user_namespace) EnterUserNamespace(role, dumpable);
  std::vector<int> denied = DeniedCalls(role.filter, role.capabilities);
  for (const int allowed : role.allowed_calls) {
    denied.erase(std::remove(denied.begin(), denied.end(), allowed), denied.end());
  }
  if (role.filter != ContainerFilter::kNone) Must(InstallFilter(denied), "seccomp filter");
}

char* NewPages(size_t count) {
  void* area = mmap(nullptr, count * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  Must(area != MAP_FAILED, "mmap");
  return static_cast<char*>(area);
}

// What another user of userfaultfd does to its memory; stays until the process ends.
void UseUserfaultfd(OtherUserfaultfd use) {
  if (use == OtherUserfaultfd::kNone) return;
  char* const area = NewPages(16);
  absl::StatusOr<UniqueFd> fd = CreateUserfaultfd();
  Must(fd.ok(), "userfaultfd");
  uffdio_api api{UFFD_API, 0, 0};
  uffdio_register request{};
  request.range = {reinterpret_cast<uint64_t>(area), 16 * kPage};
  request.mode = UFFDIO_REGISTER_MODE_MISSING;
  if (use == OtherUserfaultfd::kProtects) {
    std::memset(area, 1, 16 * kPage);
    static const absl::StatusOr<WriteProtection> protection = WriteProtection::Negotiate(std::move(*fd));
    if (!protection.ok()) return;  // before Linux 6.7 nobody could
    Must(protection->Register({request.range.start, request.range.start + request.range.len}) == 0,
         "register");
    return;
  }
  Must(ioctl(fd->get(), UFFDIO_API, &api) == 0, "UFFDIO_API");
  Must(ioctl(fd->get(), UFFDIO_REGISTER, &request) == 0, "UFFDIO_REGISTER");
  static_cast<void>(fd->Release());
}

// Pipes that somebody reads to their end.
void CloseAllBut(int kept) {
  const auto number = static_cast<unsigned>(kept);
  if (number > 3) syscall(SYS_close_range, 3, number - 1, 0);
  syscall(SYS_close_range, number + 1, ~0U, 0);
}

[[noreturn]] void LiveAsTarget(const Condition& condition, int ready) {
  CloseAllBut(ready);
  UseUserfaultfd(condition.userfaultfd);
  Become(condition.target, condition.target_dumpable);
  // A change of user takes the request away.
  Must(prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) == 0, "death signal");
  char* const pages = NewPages(64);
  std::memset(pages, 1, 64 * kPage);
  Must(write(ready, "r", 1) == 1, "ready");
  for (unsigned i = 0;; ++i) {
    for (size_t page = 0; page < 4; ++page) *reinterpret_cast<volatile unsigned*>(pages + page * kPage) = i;
    const timespec pause{0, 500'000};
    nanosleep(&pause, nullptr);
  }
}

pid_t StartTarget(const Condition& condition) {
  int ready[2];
  Must(pipe2(ready, O_CLOEXEC) == 0, "pipe");
  const pid_t pid = fork();
  if (pid == 0) LiveAsTarget(condition, ready[1]);
  close(ready[1]);
  char byte = 0;
  Must(pid > 0 && read(ready[0], &byte, 1) == 1, "start of the target");
  close(ready[0]);
  return pid;
}

void Trace(pid_t target) { Must(ptrace(PTRACE_SEIZE, target, nullptr, nullptr) == 0, "ptrace"); }

void ClaimSoftDirty(pid_t target) {
  struct flock lock {};
  lock.l_type = F_WRLCK;
  const int fd = open(absl::StrCat("/proc/", target, "/clear_refs").c_str(), O_WRONLY | O_CLOEXEC);
  Must(fd >= 0 && fcntl(fd, F_OFD_SETLK, &lock) == 0, "lock");
}

// Who watches the target before the exporter does; waits to be killed. 0 when nobody is to.
pid_t StartOnlooker(const Condition& condition, pid_t target) {
  if (!condition.target_traced && !condition.target_claimed) return 0;
  int ready[2];
  Must(pipe2(ready, O_CLOEXEC) == 0, "pipe");
  const pid_t pid = fork();
  if (pid == 0) {
    CloseAllBut(ready[1]);
    prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    if (condition.target_traced) Trace(target);
    if (condition.target_claimed) ClaimSoftDirty(target);
    Must(write(ready[1], "r", 1) == 1, "ready");
    for (;;) pause();
  }
  close(ready[1]);
  char byte = 0;
  Must(read(ready[0], &byte, 1) == 1, "start of the onlooker");
  close(ready[0]);
  return pid;
}

[[noreturn]] void LiveAsExporter(const Condition& condition, pid_t target,
                                 const std::function<std::vector<std::string>(pid_t)>& arguments, int output,
                                 int errors, Offspring* offspring) {
  if (condition.target_is_child) {
    target = offspring->target = StartTarget(condition);
    offspring->onlooker = StartOnlooker(condition, target);
  }
  dup2(output, STDOUT_FILENO);
  dup2(errors, STDERR_FILENO);
  Become(condition.exporter, true);
  const std::vector<std::string> words = arguments(target);
  std::vector<char*> pointers;
  pointers.reserve(words.size() + 1);
  for (const std::string& word : words) pointers.push_back(const_cast<char*>(word.c_str()));
  pointers.push_back(nullptr);
  execv(pointers[0], pointers.data());
  Fail(pointers[0]);
}

void End(pid_t pid) {
  if (pid <= 0) return;
  kill(pid, SIGKILL);
  while (waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
  }
}

// Both until their ends.
void ReadBoth(int output, int errors, ProgramEnd* end) {
  pollfd waits[2] = {{output, POLLIN, 0}, {errors, POLLIN, 0}};
  std::string* texts[2] = {&end->output, &end->errors};
  while (waits[0].fd >= 0 || waits[1].fd >= 0) {
    if (poll(waits, 2, -1) < 0) continue;
    for (int i = 0; i < 2; ++i) {
      if (waits[i].fd < 0 || waits[i].revents == 0) continue;
      char buffer[4096];
      const ssize_t length = read(waits[i].fd, buffer, sizeof(buffer));
      if (length <= 0) waits[i].fd = -1;
      if (length > 0) texts[i]->append(buffer, static_cast<size_t>(length));
    }
  }
}

}  // namespace

bool ApplySettings(const Condition& condition) {
  const auto set = [](const char* path, int value) {
    const std::string text = absl::StrCat(value);
    const int fd = open(path, O_WRONLY | O_CLOEXEC);
    const bool done = fd >= 0 && write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size());
    if (fd >= 0) close(fd);
    return done;
  };
  return set("/proc/sys/kernel/yama/ptrace_scope", condition.yama_scope) &&
         set("/proc/sys/kernel/perf_event_paranoid", condition.perf_event_paranoid);
}

StagedProgram::StagedProgram(const Condition& condition,
                             const std::function<std::vector<std::string>(pid_t target)>& arguments) {
  void* const shared = mmap(nullptr, kPage, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  Must(shared != MAP_FAILED, "mmap");
  offspring_ = new (shared) Offspring;
  if (!condition.target_is_child) {
    offspring_->target = StartTarget(condition);
    offspring_->onlooker = StartOnlooker(condition, offspring_->target);
  }
  int output[2];
  int errors[2];
  Must(pipe2(output, O_CLOEXEC) == 0 && pipe2(errors, O_CLOEXEC) == 0, "pipe");
  exporter_ = fork();
  Must(exporter_ >= 0, "fork");
  if (exporter_ == 0) {
    LiveAsExporter(condition, offspring_->target, arguments, output[1], errors[1], offspring_);
  }
  close(output[1]);
  close(errors[1]);
  output_ = output[0];
  errors_ = errors[0];
}

StagedProgram::StagedProgram(StagedProgram&& other) noexcept
    : offspring_(std::exchange(other.offspring_, nullptr)),
      exporter_(std::exchange(other.exporter_, 0)),
      output_(std::exchange(other.output_, -1)),
      errors_(std::exchange(other.errors_, -1)) {}

StagedProgram::~StagedProgram() {
  End(exporter_);
  if (output_ >= 0) close(output_);
  if (errors_ >= 0) close(errors_);
  if (offspring_ == nullptr) return;
  End(offspring_->onlooker);
  End(offspring_->target);
  munmap(offspring_, kPage);
}

ProgramEnd StagedProgram::Wait() {
  ProgramEnd end;
  ReadBoth(output_, errors_, &end);
  int status = 0;
  while (waitpid(exporter_, &status, 0) < 0 && errno == EINTR) {
  }
  exporter_ = 0;
  if (WIFEXITED(status)) end.status = WEXITSTATUS(status);
  return end;
}

}  // namespace mempulse
