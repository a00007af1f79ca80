#include "collectors/pages/attach_process.h"

#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <optional>

#include "absl/status/status.h"
#include "collectors/host/errno_status.h"
#include "collectors/pages/attach_tracee.h"

namespace mempulse {
namespace {

// All signals of this thread blocked; the mask passes to a forked process.
class SignalsBlocked {
 public:
  SignalsBlocked() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;
  ~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_;
};

// A message with room for one descriptor.
struct Message {
  iovec part;
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control;
  msghdr header;

  explicit Message(InjectionReply* reply) : part{reply, sizeof(*reply)}, control{}, header{} {
    header.msg_iov = &part;
    header.msg_iovlen = 1;
    header.msg_control = control.data();
    header.msg_controllen = control.size();
  }
};

void Send(int socket, InjectionReply reply, int fd) {
  Message message(&reply);
  if (fd >= 0) {
    cmsghdr* control = CMSG_FIRSTHDR(&message.header);
    control->cmsg_level = SOL_SOCKET;
    control->cmsg_type = SCM_RIGHTS;
    control->cmsg_len = CMSG_LEN(sizeof(fd));
    memcpy(CMSG_DATA(control), &fd, sizeof(fd));
  } else {
    message.header.msg_controllen = 0;
  }
  sendmsg(socket, &message.header, MSG_NOSIGNAL);
}

bool Receive(int socket, InjectionResult* result) {
  Message message(&result->reply);
  const ssize_t length = recvmsg(socket, &message.header, MSG_CMSG_CLOEXEC);
  const cmsghdr* control = length > 0 ? CMSG_FIRSTHDR(&message.header) : nullptr;
  if (control != nullptr && control->cmsg_type == SCM_RIGHTS) {
    int fd = -1;
    memcpy(&fd, CMSG_DATA(control), sizeof(fd));
    result->userfaultfd.Reset(fd);
  }
  return length == static_cast<ssize_t>(sizeof(result->reply));
}

// So that a helper that outlives the exporter keeps none of its listening sockets.
void CloseAllBut(std::array<int, 4> kept) {
  std::sort(kept.begin(), kept.end());
  unsigned first = 0;
  for (const int fd : kept) {
    if (fd < 0) continue;
    const auto number = static_cast<unsigned>(fd);
    if (number > first) syscall(SYS_close_range, first, number - 1, 0);
    first = number + 1;
  }
  syscall(SYS_close_range, first, ~0U, 0);
}

// The thread stands still for as long as we wait for a CPU, and each of its stops wakes us: quickest on its
// own CPU. Where this is not allowed, it stands longer.
void HurryBeside(int cpu) {
  const sched_param first_in_line{1};
  sched_setscheduler(0, SCHED_FIFO, &first_in_line);
  if (cpu < 0 || cpu >= CPU_SETSIZE) return;
  cpu_set_t own;
  CPU_ZERO(&own);
  CPU_SET(static_cast<size_t>(cpu), &own);
  sched_setaffinity(0, sizeof(own), &own);
}

// The whole life of the forked process. Nothing here allocates or locks.
[[noreturn]] void LiveAsHelper(const InjectionPlan& plan, int socket) {
  CloseAllBut({socket, plan.process_pidfd, plan.thread_pidfd, plan.stage_fd});
  prctl(PR_SET_NAME, "mempulse-attach", 0, 0, 0);
  HurryBeside(plan.cpu);
  struct sigaction action {};  // an inherited SIG_IGN would keep the news of the thread's stops from us
  action.sa_handler = SIG_DFL;
  sigaction(SIGCHLD, &action, nullptr);
  ReportStage(plan.stage_fd, AttachStage::kForked);
  int userfaultfd = -1;
  const InjectionReply reply = InjectUserfaultfd(plan, &userfaultfd);
  Send(socket, reply, userfaultfd);
  ReportStage(plan.stage_fd, AttachStage::kDone);
  _exit(0);
}

// False at the deadline.
bool WaitReadable(int socket, int64_t timeout_nanos) {
  const int64_t deadline = TraceClockNanos() + timeout_nanos;
  for (;;) {
    const int64_t left = deadline - TraceClockNanos();
    if (left <= 0) return false;
    pollfd poll_fd{socket, POLLIN, 0};
    if (poll(&poll_fd, 1, static_cast<int>(left / 1'000'000 + 1)) > 0) return true;
  }
}

pid_t ForkHelper(const InjectionPlan& plan, int socket) {
  const SignalsBlocked blocked;
  const pid_t helper = fork();
  if (helper == 0) LiveAsHelper(plan, socket);
  return helper;
}

}  // namespace

absl::StatusOr<InjectionResult> RunInjectionProcess(const InjectionPlan& plan, int64_t timeout_nanos) {
  int sockets[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets) != 0)
    return ErrnoStatus("socketpair", "attach");
  const UniqueFd ours(sockets[0]);
  UniqueFd theirs(sockets[1]);
  const pid_t helper = ForkHelper(plan, theirs.get());
  if (helper < 0) return ErrnoStatus("fork", "attach helper");
  theirs.Reset();
  // A helper that is late is left alone: killing it while the thread has foreign registers would kill the
  // target.
  if (!WaitReadable(ours.get(), timeout_nanos)) {
    return absl::DeadlineExceededError("the attach helper is still busy with the target");
  }
  InjectionResult result;
  const bool complete = Receive(ours.get(), &result);
  while (waitpid(helper, nullptr, __WALL) < 0 && errno == EINTR) {
  }
  if (!complete) return absl::InternalError("the attach helper died");
  return result;
}

}  // namespace mempulse
