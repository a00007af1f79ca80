#pragma once

#include <sys/types.h>

#include <cstdint>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "collectors/host/host.h"
#include "collectors/host/unique_fd.h"
#include "collectors/targets/target.h"

namespace mempulse {

// A userfaultfd belongs to the address space that created it, so the target has to create one: a thread is
// stopped (PTRACE_SEIZE + INTERRUPT), made to call userfaultfd and close on a `syscall` instruction that is
// there already, and sent on its way with the registers it had. We keep a copy (pidfd_getfd). The thread's
// stack is not touched.
//
// A forked process with all signals blocked does that work, so the death of the exporter at any moment leaves
// the target as it was. What remains: SIGKILL of that process itself (a container being killed as a whole) in
// the ~50 us between the first changed register and the last restored one leaves the thread with wrong
// registers.
//
// A system call that a thread was blocked in is started again by the kernel; those that would return EINTR
// instead are repaired. Restarting means that a relative timeout (epoll_wait, SO_RCVTIMEO, semtimedop...)
// begins anew.

// How far an attach has come; the order is the order of events.
enum class AttachStage : uint8_t {
  kForked,     // nothing has been done to the target
  kSeized,     // traced, running
  kStopped,    // one thread stopped, unchanged
  kInjecting,  // its registers are ours; signals blocked
  kCreated,    // the descriptor exists in the target
  kCopied,     // and here
  kClosed,     // and no more in the target
  kRestored,   // registers and signal mask are its own again
  kDetached,   // running, untraced
  kDone,       // handed over to the caller
};

struct AttachOptions {
  absl::Duration stop_timeout =
      absl::Milliseconds(200);  // for one thread to stop; then it is let go untouched
  int max_attempts = 8;         // threads or moments tried
  // For tests: at every stage a byte (the AttachStage) is written here and one is read before going on; -1 =
  // never.
  int stage_fd = -1;
};

struct AttachResult {
  UniqueFd userfaultfd;     // nothing negotiated yet
  double stop_seconds = 0;  // from the request to stop until the thread ran again; over all attempts
  double wait_seconds = 0;  // of these, until it stood still
  uint64_t stops = 0;       // attempts that stopped a thread
  pid_t thread = 0;
  int64_t interrupted_call = -1;  // system call number the thread was in, -1 none
  bool repaired_eintr = false;    // it would have returned EINTR
  bool visible_eintr = false;     // it did: a call that is unsafe to start again
};

// NotFound: the target is gone. Unavailable: it cannot be done to this target; the message begins with one of
// TrackerSupport's reason words and a colon: "seccomp: ...", "foreign_tracker: ..." (a debugger has it),
// "yama: ...", "capability: ...", "architecture: ...", "kernel: ...", "error: ...". DeadlineExceeded: no
// thread could be stopped in time (uninterruptible sleep, frozen): worth another try later. Thread-safe;
// blocks for at most max_attempts * (stop_timeout + a few ms).
absl::StatusOr<AttachResult> AttachUserfaultfd(const Host& host, const Target& target,
                                               const AttachOptions& options);

}  // namespace mempulse
