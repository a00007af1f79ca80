#include "collectors/pages/attach_tracee.h"

#include <signal.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <time.h>

#include <algorithm>
#include <cerrno>
#include <limits>

namespace mempulse {
namespace {

// Newer than the C library's headers.
constexpr int kGetRseqConfiguration = 0x420f;
constexpr int kGetSyscallUserDispatch = 0x4211;
constexpr long kOptionSuspendSeccomp = 1 << 21;

constexpr long kOptions = PTRACE_O_TRACESYSGOOD;
constexpr int kSystemCallStop = SIGTRAP | 0x80;
constexpr size_t kKernelMaskSize = 8;
constexpr int64_t kForever = std::numeric_limits<int64_t>::max();
constexpr int64_t kMostSleepNanos = 5'000'000;

struct RseqConfiguration {
  uint64_t area;
  uint32_t size;
  uint32_t signature;
  uint32_t flags;
  uint32_t pad;
};

struct DispatchConfiguration {
  uint64_t mode;
  uint64_t selector;
  uint64_t offset;
  uint64_t length;
};

// ptrace's request is an enum in C++; the newer requests are not in it.
long Trace(int request, pid_t thread, uint64_t address, uint64_t data) {
  return ptrace(static_cast<__ptrace_request>(request), thread, address, data);
}

uint64_t AddressOf(const void* pointer) { return reinterpret_cast<uint64_t>(pointer); }

// Sleeps until a child changes its state: SIGCHLD is blocked, so one that came earlier ends the sleep at
// once.
void SleepUntilChild(int64_t nanos) {
  sigset_t child;
  sigemptyset(&child);
  sigaddset(&child, SIGCHLD);
  const int64_t sleep = std::clamp<int64_t>(nanos, 0, kMostSleepNanos);
  const timespec limit{0, sleep};
  sigtimedwait(&child, nullptr, &limit);
}

bool IsFault(int signal) {
  return signal == SIGSEGV || signal == SIGBUS || signal == SIGILL || signal == SIGSYS;
}

}  // namespace

int64_t TraceClockNanos() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1'000'000'000LL + now.tv_nsec;
}

int Tracee::Seize() const {
  return Trace(PTRACE_SEIZE, thread_, 0, static_cast<uint64_t>(kOptions)) == 0 ? 0 : errno;
}

Tracee::Stop Tracee::Wait(int64_t deadline_nanos, int* signal) const {
  for (;;) {
    int status = 0;
    const pid_t changed = waitpid(thread_, &status, __WALL | WNOHANG);
    if (changed == thread_) {
      if (!WIFSTOPPED(status)) return Stop::kEnded;
      *signal = WSTOPSIG(status);
      if (status >> 16 == PTRACE_EVENT_STOP) return *signal == SIGTRAP ? Stop::kTrap : Stop::kGroup;
      if (*signal == kSystemCallStop) return Stop::kSystemCall;
      return IsFault(*signal) ? Stop::kFault : Stop::kSignal;
    }
    if (changed < 0 && errno != EINTR) return Stop::kEnded;
    const int64_t left = deadline_nanos == kForever ? kMostSleepNanos : deadline_nanos - TraceClockNanos();
    if (left <= 0) return Stop::kTimeout;
    SleepUntilChild(left);
  }
}

Tracee::Stop Tracee::Interrupt(int64_t timeout_nanos) const {
  const int64_t deadline = TraceClockNanos() + timeout_nanos;
  if (Trace(PTRACE_INTERRUPT, thread_, 0, 0) != 0) return Stop::kEnded;
  for (;;) {
    int signal = 0;
    const Stop stop = Wait(deadline, &signal);
    if (stop == Stop::kSignal || stop == Stop::kFault) {
      // The request to stop stays; this signal was on its way to the thread before it.
      Trace(PTRACE_CONT, thread_, 0, static_cast<uint64_t>(signal));
      continue;
    }
    if (stop == Stop::kSystemCall) {
      Trace(PTRACE_CONT, thread_, 0, 0);
      continue;
    }
    return stop;
  }
}

bool Tracee::Detach() const { return Trace(PTRACE_DETACH, thread_, 0, 0) == 0; }

bool Tracee::ReadRegisters(user_regs_struct* registers) const {
  return Trace(PTRACE_GETREGS, thread_, 0, AddressOf(registers)) == 0;
}

bool Tracee::WriteRegisters(const user_regs_struct& registers) const {
  return Trace(PTRACE_SETREGS, thread_, 0, AddressOf(&registers)) == 0;
}

bool Tracee::ReadWord(uint64_t address, uint64_t* word) const {
  errno = 0;
  *word = static_cast<uint64_t>(Trace(PTRACE_PEEKDATA, thread_, address, 0));
  return errno == 0;
}

bool Tracee::ReadSignalMask(uint64_t* mask) const {
  return Trace(PTRACE_GETSIGMASK, thread_, kKernelMaskSize, AddressOf(mask)) == 0;
}

bool Tracee::WriteSignalMask(uint64_t mask) const {
  return Trace(PTRACE_SETSIGMASK, thread_, kKernelMaskSize, AddressOf(&mask)) == 0;
}

Tracee::Stop Tracee::ContinueToSystemCall() const {
  int signal = 0;
  for (;;) {
    if (Trace(PTRACE_SYSCALL, thread_, 0, static_cast<uint64_t>(signal)) != 0) return Stop::kEnded;
    const Stop stop = Wait(kForever, &signal);
    // Only SIGSTOP gets through the mask: it is passed on, and the stop of the group that follows is held
    // back for this thread; detaching makes it join the others.
    if (stop == Stop::kSignal) continue;
    if (stop != Stop::kGroup && stop != Stop::kTrap) return stop;
    signal = 0;
  }
}

Tracee::Stop Tracee::RunSystemCall(const user_regs_struct& registers, uint64_t address, uint64_t number,
                                   uint64_t argument, int64_t* result) const {
  user_regs_struct call = registers;
  call.rip = address;
  call.rax = number;
  call.orig_rax = static_cast<uint64_t>(-1);  // else the kernel would restart the interrupted call now
  call.rdi = argument;
  if (!WriteRegisters(call)) return Stop::kEnded;
  for (int entry_and_exit = 0; entry_and_exit < 2; ++entry_and_exit) {
    const Stop stop = ContinueToSystemCall();
    if (stop != Stop::kSystemCall) return stop;
  }
  if (!ReadRegisters(&call)) return Stop::kEnded;
  *result = static_cast<int64_t>(call.rax);
  return Stop::kSystemCall;
}

bool Tracee::InsideRestartableSequence(uint64_t instruction_pointer) const {
  RseqConfiguration configuration{};
  if (Trace(kGetRseqConfiguration, thread_, sizeof(configuration), AddressOf(&configuration)) < 0)
    return false;
  if (configuration.area == 0) return false;
  uint64_t sequence = 0;
  if (!ReadWord(configuration.area + 8, &sequence)) return true;
  if (sequence == 0) return false;
  uint64_t start = 0;
  uint64_t length = 0;
  if (!ReadWord(sequence + 8, &start) || !ReadWord(sequence + 16, &length)) return true;
  return instruction_pointer - start < length;
}

bool Tracee::RedirectsSystemCalls() const {
  DispatchConfiguration configuration{};
  if (Trace(kGetSyscallUserDispatch, thread_, sizeof(configuration), AddressOf(&configuration)) != 0)
    return false;
  return configuration.mode != 0;
}

int Tracee::SuspendSeccomp() const {
  return Trace(PTRACE_SETOPTIONS, thread_, 0, static_cast<uint64_t>(kOptions | kOptionSuspendSeccomp)) == 0
             ? 0
             : errno;
}

}  // namespace mempulse
