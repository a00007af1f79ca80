#include "collectors/pages/attach_userfaultfd.h"

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "collectors/host/errno_status.h"
#include "collectors/host/kernel_facts.h"
#include "collectors/host/pidfd.h"
#include "collectors/pages/attach_process.h"
#include "collectors/pages/attach_syscall_site.h"
#include "collectors/pages/attach_threads.h"

namespace mempulse {
namespace {

constexpr int kRefusalsBelieved =
    3;  // a process in the middle of an exec refuses what it allows a moment later

// Beyond the time a thread may take to stop: the calls in it, on a machine with more work than CPUs.
constexpr int64_t kInjectionNanos = 5'000'000'000;

std::string ErrorText(int error) {
  const char* text = strerrordesc_np(error);
  return text != nullptr ? text : absl::StrCat("errno ", error);
}

std::string WhyTraceRefused(const Host& host, int error) {
  const KernelFacts kernel = ReadKernelFacts(host);
  if (error == EPERM && kernel.yama_scope.value_or(0) > 0) {
    return absl::StrCat("yama: kernel.yama.ptrace_scope is ", *kernel.yama_scope, " and ptrace was refused");
  }
  return absl::StrCat("capability: ptrace of the target was refused: ", ErrorText(error));
}

std::string WhyRefusedInTarget(int error) {
  if (error == EMFILE || error == ENFILE) return "error: the target has no free file descriptor";
  if (error == ENOSYS) return "kernel: userfaultfd does not exist";
  return absl::StrCat("kernel: userfaultfd was refused inside the target: ", ErrorText(error));
}

absl::Status StatusOf(const Host& host, const InjectionReply& reply) {
  switch (reply.outcome) {
    case InjectionOutcome::kTaken:
      return absl::OkStatus();
    case InjectionOutcome::kGone:
      return absl::NotFoundError("the target ended during the attach");
    case InjectionOutcome::kTraceRefused:
      return absl::UnavailableError(WhyTraceRefused(host, reply.error));
    case InjectionOutcome::kNotStopped:
      return absl::DeadlineExceededError("no thread of the target stopped in time");
    case InjectionOutcome::kInsideRseq:
      return absl::UnavailableError("error: every thread tried was inside a restartable sequence");
    case InjectionOutcome::kSeccomp:
      return absl::UnavailableError(
          absl::StrCat("seccomp: the target has a filter, and suspending it was refused (needs CAP_SYS_ADMIN "
                       "and no filter on the "
                       "exporter): ",
                       ErrorText(reply.error)));
    case InjectionOutcome::kDispatch:
      return absl::UnavailableError("error: the target redirects its system calls (syscall user dispatch)");
    case InjectionOutcome::kNot64Bit:
      return absl::UnavailableError("architecture: the target runs 32-bit code");
    case InjectionOutcome::kNoInstruction:
      return absl::DeadlineExceededError("the target's code kept changing during the attach");
    case InjectionOutcome::kRefusedInTarget:
      return absl::UnavailableError(WhyRefusedInTarget(reply.error));
    case InjectionOutcome::kCopyRefused:
      return absl::UnavailableError(absl::StrCat("capability: pidfd_getfd: ", ErrorText(reply.error)));
    case InjectionOutcome::kTraceFailed:
      return absl::InternalError(absl::StrCat("ptrace failed: ", ErrorText(reply.error)));
  }
  return absl::InternalError("unknown outcome");
}

// What a process answers in the middle of an exec or an exit.
bool IsInTransit(InjectionOutcome outcome) {
  return outcome == InjectionOutcome::kTraceRefused || outcome == InjectionOutcome::kNoInstruction;
}

// What may end otherwise with another thread or a moment later.
bool WorthAnotherTry(InjectionOutcome outcome, int attempt) {
  if (outcome == InjectionOutcome::kTraceRefused) return attempt + 1 < kRefusalsBelieved;
  return IsInTransit(outcome) || outcome == InjectionOutcome::kInsideRseq ||
         outcome == InjectionOutcome::kNotStopped || outcome == InjectionOutcome::kDispatch ||
         outcome == InjectionOutcome::kGone;  // perhaps only this thread
}

absl::Status CheckTraceable(const Host& host, pid_t pid) {
  const absl::StatusOr<ProcessSecurity> security = ReadProcessSecurity(host, pid);
  if (!security.ok()) return security.status();
  if (security->tracer != 0) {
    return absl::UnavailableError(
        absl::StrCat("foreign_tracker: process ", security->tracer, " traces the target already"));
  }
  return absl::OkStatus();
}

UniqueFd OpenThreadPidfd(pid_t thread) {
  constexpr unsigned kPidfdThread =
      O_EXCL;  // Linux 6.9; sees the thread's own descriptors, should it not share them
  return UniqueFd(static_cast<int>(syscall(SYS_pidfd_open, thread, kPidfdThread)));
}

InjectionPlan MakePlan(const Host& host, const Target& target, pid_t thread, uint64_t syscall_address,
                       const AttachOptions& options) {
  InjectionPlan plan;
  plan.thread = thread;
  plan.syscall_address = syscall_address;
  plan.process_pidfd = target.pidfd();
  plan.stop_timeout_nanos = absl::ToInt64Nanoseconds(options.stop_timeout);
  plan.stage_fd = options.stage_fd;
  const std::string task = host.ProcPath(target.pid(), absl::StrCat("task/", thread));
  snprintf(plan.task_path, sizeof(plan.task_path), "%s", task.c_str());
  snprintf(plan.status_path, sizeof(plan.status_path), "%s/status", task.c_str());
  return plan;
}

absl::StatusOr<InjectionReply> TryThread(const Host& host, const Target& target, const AttachThread& thread,
                                         const AttachOptions& options, AttachResult* result) {
  bool truncated = false;
  const absl::StatusOr<std::vector<Mapping>> mappings = ReadMappings(host, target.pid(), &truncated);
  if (!mappings.ok()) return mappings.status();
  const absl::StatusOr<uint64_t> site = FindSyscallInstruction(host, target.pid(), *mappings);
  if (!site.ok()) return site.status();
  if (*site == 0) return InjectionReply{.outcome = InjectionOutcome::kNoInstruction};
  InjectionPlan plan = MakePlan(host, target, thread.id, *site, options);
  const UniqueFd thread_pidfd = OpenThreadPidfd(thread.id);
  plan.cpu = thread.cpu;
  plan.thread_pidfd = thread_pidfd.valid() ? thread_pidfd.get() : plan.process_pidfd;
  absl::StatusOr<InjectionResult> injected =
      RunInjectionProcess(plan, plan.stop_timeout_nanos + kInjectionNanos);
  if (!injected.ok()) return injected.status();
  const InjectionReply& reply = injected->reply;
  result->userfaultfd = std::move(injected->userfaultfd);
  result->stop_seconds += static_cast<double>(reply.stop_nanos) * 1e-9;
  result->wait_seconds += static_cast<double>(reply.wait_nanos) * 1e-9;
  result->stops += reply.stop_nanos > 0 ? 1 : 0;
  result->thread = thread.id;
  result->interrupted_call = reply.interrupted_call;
  result->repaired_eintr |= reply.repaired_eintr;
  result->visible_eintr |= reply.visible_eintr;
  return reply;
}

}  // namespace

absl::StatusOr<AttachResult> AttachUserfaultfd(const Host& host, const Target& target,
                                               const AttachOptions& options) {
  if (target.pidfd() < 0) return absl::UnavailableError("error: no pidfd of the target");
  AttachResult result;
  const absl::Duration pause = options.stop_timeout / options.max_attempts;
  absl::Status last = absl::DeadlineExceededError("every thread of the target is in an uninterruptible wait");
  for (int attempt = 0; attempt < options.max_attempts; ++attempt) {
    if (PidfdHasExited(target.pidfd())) return absl::NotFoundError("the target has ended");
    if (absl::Status status = CheckTraceable(host, target.pid()); !status.ok()) return status;
    const absl::StatusOr<std::vector<AttachThread>> threads =
        FindAttachThreads(host, target.pid(), static_cast<size_t>(options.max_attempts));
    if (!threads.ok()) return threads.status();
    if (threads->empty()) {
      absl::SleepFor(pause);
      continue;
    }
    const AttachThread& thread = (*threads)[static_cast<size_t>(attempt) % threads->size()];
    const absl::StatusOr<InjectionReply> reply = TryThread(host, target, thread, options, &result);
    last = reply.ok() ? StatusOf(host, *reply) : reply.status();
    if (last.ok()) return result;
    const bool again = reply.ok() ? WorthAnotherTry(reply->outcome, attempt)
                                  : absl::IsUnavailable(last) && attempt + 1 < kRefusalsBelieved;
    if (!again) return last;
    if (!reply.ok() || IsInTransit(reply->outcome)) absl::SleepFor(pause);
  }
  if (PidfdHasExited(target.pidfd())) return absl::NotFoundError("the target has ended");
  return last;
}

}  // namespace mempulse
