#pragma once

#include <sys/types.h>

#include <cstdint>

#include "collectors/pages/attach_userfaultfd.h"

// The part of the attach that runs in the forked process, where nothing may be allocated, locked or logged:
// plain values in and out, all strings made before the fork.
namespace mempulse {

struct InjectionPlan {
  pid_t thread = 0;
  uint64_t syscall_address = 0;
  int process_pidfd = -1;
  int thread_pidfd = -1;  // of the thread where the kernel has those (6.9), else of the process
  int64_t stop_timeout_nanos = 0;
  int stage_fd = -1;
  int cpu = -1;                // where the thread ran last; -1 unknown
  char task_path[256] = {};    // PROCFS/PID/task/TID
  char status_path[256] = {};  // PROCFS/PID/task/TID/status
};

enum class InjectionOutcome : uint8_t {
  kTaken,            // the descriptor was copied
  kGone,             // the target ended or is another process by now
  kTraceRefused,     // PTRACE_SEIZE; error says why
  kNotStopped,       // in time
  kInsideRseq,       // in a restartable sequence that our stop would break: another moment will do
  kSeccomp,          // a filter that cannot be suspended; error says why
  kDispatch,         // its system calls are redirected to a handler of its own
  kNot64Bit,         // runs 32-bit code
  kNoInstruction,    // the instruction is no longer there
  kRefusedInTarget,  // userfaultfd failed there; error says why
  kCopyRefused,      // pidfd_getfd failed; error says why
  kTraceFailed,      // a ptrace request that cannot fail did
};

struct InjectionReply {
  InjectionOutcome outcome = InjectionOutcome::kTraceFailed;
  int error = 0;
  int64_t wait_nanos = 0;
  int64_t stop_nanos = 0;  // 0: nothing was stopped
  int64_t interrupted_call = -1;
  bool repaired_eintr = false;
  bool visible_eintr = false;
};

// Makes the thread create a userfaultfd, copies that to *userfaultfd (-1 when not), and lets the thread go
// on. Must be the only user of ptrace and SIGCHLD in a single-threaded process with all signals blocked,
// which ends soon after: that is what detaches a thread that did not stop. Async-signal-safe.
InjectionReply InjectUserfaultfd(const InjectionPlan& plan, int* userfaultfd);

// Tells a test where we are and waits for it. Async-signal-safe.
void ReportStage(int stage_fd, AttachStage stage);

}  // namespace mempulse
