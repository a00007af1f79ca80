#include "collectors/pages/attach_injection.h"

#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "collectors/host/pidfd.h"
#include "collectors/pages/attach_threads.h"
#include "collectors/pages/attach_tracee.h"

namespace mempulse {
namespace {

constexpr uint64_t kCodeSegment64 = 0x33;
constexpr uint64_t kSyscallBytes = 0x050f;
constexpr uint64_t kUserfaultfdFlags = O_CLOEXEC | O_NONBLOCK | UFFD_USER_MODE_ONLY;
constexpr int64_t kRestartNoHand = -514;  // the kernel's ERESTARTNOHAND: start again unless a handler ran

// What the thread had before we came.
struct SavedState {
  user_regs_struct registers{};
  uint64_t signal_mask = 0;
};

// The number after "\nSeccomp:\t", or -1 when it cannot be told (the line with the groups can be very long).
int SeccompMode(const char* status_path) {
  char text[16384];
  const int fd = open(status_path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return -1;
  const ssize_t length = read(fd, text, sizeof(text) - 1);
  close(fd);
  if (length <= 0) return -1;
  text[length] = '\0';
  const char* line = strstr(text, "\nSeccomp:\t");
  return line == nullptr ? -1 : line[10] - '0';
}

// A seized thread keeps its number, and the pidfd of a process that has not ended the number of its process;
// so both together prove that the thread belongs to the process that was meant. (Asking with a signal would
// need CAP_KILL.)
bool BelongsToTarget(const InjectionPlan& plan) {
  struct stat task {};
  return stat(plan.task_path, &task) == 0 && !PidfdHasExited(plan.process_pidfd);
}

bool Refuse(InjectionOutcome outcome, int error, InjectionReply* reply) {
  reply->outcome = outcome;
  reply->error = error;
  return false;
}

// Whether a system call may be run in the stopped thread. Changes nothing but the tracing options.
bool MayInject(const InjectionPlan& plan, const Tracee& tracee, const SavedState& saved,
               InjectionReply* reply) {
  if (!BelongsToTarget(plan)) return Refuse(InjectionOutcome::kGone, ESRCH, reply);
  if (saved.registers.cs != kCodeSegment64) return Refuse(InjectionOutcome::kNot64Bit, 0, reply);
  uint64_t code = 0;
  if (!tracee.ReadWord(plan.syscall_address, &code) || (code & 0xffff) != kSyscallBytes) {
    return Refuse(InjectionOutcome::kNoInstruction, 0, reply);
  }
  if (tracee.InsideRestartableSequence(saved.registers.rip))
    return Refuse(InjectionOutcome::kInsideRseq, 0, reply);
  if (tracee.RedirectsSystemCalls()) return Refuse(InjectionOutcome::kDispatch, 0, reply);
  if (SeccompMode(plan.status_path) != 0) {
    const int error = tracee.SuspendSeccomp();
    if (error != 0) return Refuse(InjectionOutcome::kSeccomp, error, reply);
  }
  return true;
}

void RepairInterruptedCall(bool was_stopped, user_regs_struct* registers, InjectionReply* reply) {
  const int64_t call = static_cast<int64_t>(registers->orig_rax);
  if (call < 0) return;
  reply->interrupted_call = call;
  // A process that SIGSTOP had stopped before us would have seen this EINTR without us.
  if (static_cast<int64_t>(registers->rax) != -EINTR || was_stopped) return;
  reply->repaired_eintr = IsSafeToRestart(call);
  reply->visible_eintr = !reply->repaired_eintr;
  if (reply->repaired_eintr) registers->rax = static_cast<uint64_t>(kRestartNoHand);
}

// Creates the descriptor in the target, copies it, closes it there. False when the thread is no more.
bool CreateAndCopy(const InjectionPlan& plan, const Tracee& tracee, const SavedState& saved, int* userfaultfd,
                   InjectionReply* reply) {
  int64_t created = -1;
  Tracee::Stop stop = tracee.RunSystemCall(saved.registers, plan.syscall_address, SYS_userfaultfd,
                                           kUserfaultfdFlags, &created);
  if (stop == Tracee::Stop::kEnded) return Refuse(InjectionOutcome::kGone, ESRCH, reply);
  if (stop !=
      Tracee::Stop::kSystemCall) {  // the instruction was unmapped under us; the fault is not passed on
    reply->outcome = InjectionOutcome::kNoInstruction;
    return true;
  }
  ReportStage(plan.stage_fd, AttachStage::kCreated);
  if (created < 0) {
    reply->outcome = InjectionOutcome::kRefusedInTarget;
    reply->error = static_cast<int>(-created);
    return true;
  }
  *userfaultfd = static_cast<int>(syscall(SYS_pidfd_getfd, plan.thread_pidfd, static_cast<int>(created), 0));
  reply->outcome = *userfaultfd >= 0 ? InjectionOutcome::kTaken : InjectionOutcome::kCopyRefused;
  reply->error = *userfaultfd >= 0 ? 0 : errno;
  ReportStage(plan.stage_fd, AttachStage::kCopied);
  int64_t closed = -1;
  stop = tracee.RunSystemCall(saved.registers, plan.syscall_address, SYS_close,
                              static_cast<uint64_t>(created), &closed);
  ReportStage(plan.stage_fd, AttachStage::kClosed);
  return stop != Tracee::Stop::kEnded || Refuse(InjectionOutcome::kGone, ESRCH, reply);
}

// From the stop on; leaves the thread stopped with what it had, or gone.
void RunInjection(const InjectionPlan& plan, const Tracee& tracee, bool was_stopped, int* userfaultfd,
                  InjectionReply* reply) {
  SavedState saved;
  if (!tracee.ReadRegisters(&saved.registers) || !tracee.ReadSignalMask(&saved.signal_mask)) {
    Refuse(InjectionOutcome::kGone, ESRCH, reply);
    return;
  }
  user_regs_struct restored = saved.registers;
  RepairInterruptedCall(was_stopped, &restored, reply);
  if (!MayInject(plan, tracee, saved, reply)) {
    // The stop itself has interrupted the call, so the repair is due all the same.
    if (reply->repaired_eintr) tracee.WriteRegisters(restored);
    return;
  }
  // Blocked signals stay with the kernel: none is lost, none is delivered on a foreign register set.
  if (!tracee.WriteSignalMask(~uint64_t{0})) {
    Refuse(InjectionOutcome::kTraceFailed, errno, reply);
    return;
  }
  ReportStage(plan.stage_fd, AttachStage::kInjecting);
  if (!CreateAndCopy(plan, tracee, saved, userfaultfd, reply)) return;
  tracee.WriteRegisters(restored);
  tracee.WriteSignalMask(saved.signal_mask);
  ReportStage(plan.stage_fd, AttachStage::kRestored);
}

}  // namespace

void ReportStage(int stage_fd, AttachStage stage) {
  if (stage_fd < 0) return;
  const uint8_t byte = static_cast<uint8_t>(stage);
  uint8_t answer = 0;
  if (write(stage_fd, &byte, 1) == 1) static_cast<void>(!read(stage_fd, &answer, 1));
}

InjectionReply InjectUserfaultfd(const InjectionPlan& plan, int* userfaultfd) {
  InjectionReply reply;
  *userfaultfd = -1;
  const Tracee tracee(plan.thread);
  if (const int error = tracee.Seize(); error != 0) {
    Refuse(error == ESRCH ? InjectionOutcome::kGone : InjectionOutcome::kTraceRefused, error, &reply);
    return reply;
  }
  ReportStage(plan.stage_fd, AttachStage::kSeized);
  const int64_t begin = TraceClockNanos();
  const Tracee::Stop stop = tracee.Interrupt(plan.stop_timeout_nanos);
  reply.wait_nanos = TraceClockNanos() - begin;
  if (stop == Tracee::Stop::kEnded || stop == Tracee::Stop::kTimeout) {
    Refuse(stop == Tracee::Stop::kEnded ? InjectionOutcome::kGone : InjectionOutcome::kNotStopped, 0, &reply);
    return reply;
  }
  ReportStage(plan.stage_fd, AttachStage::kStopped);
  RunInjection(plan, tracee, stop == Tracee::Stop::kGroup, userfaultfd, &reply);
  tracee.Detach();
  reply.stop_nanos = TraceClockNanos() - begin;
  ReportStage(plan.stage_fd, AttachStage::kDetached);
  return reply;
}

}  // namespace mempulse
