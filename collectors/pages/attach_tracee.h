#pragma once

#include <sys/types.h>
#include <sys/user.h>

#include <cstdint>

namespace mempulse {

// One seized thread of another process. Every call is async-signal-safe and made by the process that traces
// it. A call that needs the thread to be stopped says false when it is not (it was killed).
class Tracee {
 public:
  enum class Stop { kTrap, kGroup, kSystemCall, kSignal, kFault, kEnded, kTimeout };

  explicit Tracee(pid_t thread) : thread_(thread) {}

  // 0 or errno. Does not stop the thread.
  int Seize() const;
  // Asks for a stop and waits for it: kTrap, kGroup (it is stopped by SIGSTOP or the like), kEnded, kTimeout.
  // Signals that come first are delivered as if nobody were looking.
  Stop Interrupt(int64_t timeout_nanos) const;
  bool Detach() const;

  bool ReadRegisters(user_regs_struct* registers) const;
  bool WriteRegisters(const user_regs_struct& registers) const;
  bool ReadWord(uint64_t address, uint64_t* word) const;
  bool ReadSignalMask(uint64_t* mask) const;
  bool WriteSignalMask(uint64_t mask) const;

  // Runs one system call on the instruction at `address` with everything else of `registers`; *result as the
  // kernel gave it. The registers are left changed. Waits without limit: a thread with foreign registers is
  // never let go.
  Stop RunSystemCall(const user_regs_struct& registers, uint64_t address, uint64_t number, uint64_t argument,
                     int64_t* result) const;

  // Whether the thread is inside a restartable sequence (or that cannot be told).
  bool InsideRestartableSequence(uint64_t instruction_pointer) const;
  // Whether its system calls may be turned into SIGSYS for a handler of its own.
  bool RedirectsSystemCalls() const;
  // 0, or errno when the kernel does not let us.
  int SuspendSeccomp() const;

 private:
  Stop Wait(int64_t deadline_nanos, int* signal) const;
  Stop ContinueToSystemCall() const;

  pid_t thread_;
};

// CLOCK_MONOTONIC.
int64_t TraceClockNanos();

}  // namespace mempulse
