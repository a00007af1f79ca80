#include "tests/safety/blocking_calls.h"

#include <fcntl.h>
#include <linux/aio_abi.h>
#include <linux/futex.h>
#include <linux/io_uring.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <ctime>

namespace mempulse {
namespace {

constexpr timespec kBlocked = {kBlockedMicros / 1'000'000, kBlockedMicros % 1'000'000 * 1000};
constexpr timespec kLong = {60, 0};
constexpr int kBlockedMillis = kBlockedMicros / 1000;
constexpr int kLongMillis = 60'000;

using Prepare = std::function<void(int*)>;
using Wake = std::function<void(const int*, int)>;

void MakePipe(int* shared) { static_cast<void>(!pipe2(shared, O_CLOEXEC)); }
void MakeEventfd(int* shared) { shared[0] = shared[1] = eventfd(0, EFD_CLOEXEC); }
void MakeNothing(int*) {}

void WakeByWrite(const int* shared, int) {
  const uint64_t one = 1;
  static_cast<void>(!write(shared[1], &one, sizeof(one)));
}

void MakeEpoll(int* shared) {
  MakePipe(shared);
  shared[2] = epoll_create1(EPOLL_CLOEXEC);
  epoll_event event{};
  event.events = EPOLLIN;
  epoll_ctl(shared[2], EPOLL_CTL_ADD, shared[0], &event);
}

void MakeSocketsWithTimeout(int* shared) {
  socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, shared);
  const timeval limit{60, 0};
  setsockopt(shared[0], SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
}

sockaddr_in LoopbackAddress(uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = port;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

void MakeListener(int* shared) {
  shared[0] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address = LoopbackAddress(0);
  bind(shared[0], reinterpret_cast<sockaddr*>(&address), sizeof(address));
  listen(shared[0], 4);
  socklen_t length = sizeof(address);
  getsockname(shared[0], reinterpret_cast<sockaddr*>(&address), &length);
  shared[1] = address.sin_port;
}

void WakeByConnect(const int* shared, int) {
  const int client = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const sockaddr_in address = LoopbackAddress(static_cast<uint16_t>(shared[1]));
  connect(client, reinterpret_cast<const sockaddr*>(&address), sizeof(address));
  close(client);
}

void IgnoreInHandler(int) {}

int64_t ReadOnce(const int* shared) {
  char bytes[512];
  const int64_t got = read(shared[0], bytes, sizeof(bytes));
  return got > 0 ? 1 : got;
}

int64_t EnterRing(const int*) {
  io_uring_params parameters{};
  const int ring = static_cast<int>(syscall(SYS_io_uring_setup, 4, &parameters));
  if (ring < 0) return -1;
  const timespec limit = kBlocked;
  io_uring_getevents_arg argument{};
  argument.sigmask_sz = 8;
  argument.ts = reinterpret_cast<uint64_t>(&limit);
  return syscall(SYS_io_uring_enter, ring, 0, 1, IORING_ENTER_GETEVENTS | IORING_ENTER_EXT_ARG, &argument,
                 sizeof(argument));
}

int64_t GetEvents(const int*) {
  aio_context_t context = 0;
  syscall(SYS_io_setup, 4, &context);
  io_event event{};
  timespec limit = kBlocked;
  return syscall(SYS_io_getevents, context, 1, 1, &event, &limit);
}

int64_t WaitForSignal(const int*) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGUSR1);
  sigprocmask(SIG_BLOCK, &set, nullptr);
  return syscall(SYS_rt_sigtimedwait, &set, nullptr, &kLong, 8);
}

int64_t WaitForChild(const int* shared) {
  const pid_t child = fork();
  if (child == 0) {
    char byte;
    _exit(read(shared[0], &byte, 1) == 1 ? 0 : 1);
  }
  return syscall(SYS_wait4, child, nullptr, 0, nullptr) == child ? 1 : -1;
}

// ---- calls that end by their own timeout: the time they take must not change ----

std::vector<BlockingCall> TimedCalls() {
  std::vector<BlockingCall> calls;
  const auto add = [&](const char* name, Prepare prepare, std::function<int64_t(const int*)> call,
                       int64_t expected, int error) {
    calls.push_back({name, prepare, call, nullptr, expected, error});
  };
  add(
      "nanosleep", MakeNothing, [](const int*) { return syscall(SYS_nanosleep, &kBlocked, nullptr); }, 0, 0);
  add(
      "clock_nanosleep", MakeNothing,
      [](const int*) { return syscall(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, &kBlocked, nullptr); }, 0, 0);
  add(
      "futex", MakeNothing,
      [](const int*) {
        int word = 0;
        return syscall(SYS_futex, &word, FUTEX_WAIT, 0, &kBlocked, nullptr, 0);
      },
      -1, ETIMEDOUT);
  add(
      "poll", MakePipe,
      [](const int* shared) {
        pollfd entry{shared[0], POLLIN, 0};
        return syscall(SYS_poll, &entry, 1, kBlockedMillis);
      },
      0, 0);
  add(
      "ppoll", MakePipe,
      [](const int* shared) {
        pollfd entry{shared[0], POLLIN, 0};
        timespec limit = kBlocked;
        return syscall(SYS_ppoll, &entry, 1, &limit, nullptr, 8);
      },
      0, 0);
  add(
      "select", MakePipe,
      [](const int* shared) {
        fd_set set;
        FD_ZERO(&set);
        FD_SET(shared[0], &set);
        timeval limit{kBlocked.tv_sec, kBlocked.tv_nsec / 1000};
        return syscall(SYS_select, shared[0] + 1, &set, nullptr, nullptr, &limit);
      },
      0, 0);
  return calls;
}

// ---- calls with a relative timeout that the kernel does not carry over a restart: it begins anew ----

std::vector<BlockingCall> RestartedCalls() {
  std::vector<BlockingCall> calls;
  const auto add = [&](const char* name, Prepare prepare, std::function<int64_t(const int*)> call, Wake wake,
                       int64_t expected, int error) {
    calls.push_back({name, prepare, call, wake, expected, error});
  };
  const Wake own_timeout = [](const int*, int) {};
  add(
      "epoll_wait", MakeEpoll,
      [](const int* shared) {
        epoll_event event{};
        return syscall(SYS_epoll_wait, shared[2], &event, 1, kLongMillis);
      },
      WakeByWrite, 1, 0);
  add(
      "epoll_pwait2", MakeEpoll,
      [](const int* shared) {
        epoll_event event{};
        return syscall(SYS_epoll_pwait2, shared[2], &event, 1, &kLong, nullptr, 8);
      },
      WakeByWrite, 1, 0);
  add(
      "recv_rcvtimeo", MakeSocketsWithTimeout,
      [](const int* shared) {
        char bytes[64];
        return syscall(SYS_recvfrom, shared[0], bytes, sizeof(bytes), 0, nullptr, nullptr);
      },
      WakeByWrite, 8, 0);
  add(
      "rt_sigtimedwait", MakeNothing, WaitForSignal, [](const int*, int victim) { kill(victim, SIGUSR1); },
      SIGUSR1, 0);
  add(
      "semtimedop", [](int* shared) { shared[0] = semget(IPC_PRIVATE, 1, 0600); },
      [](const int* shared) {
        sembuf take{0, -1, 0};
        return syscall(SYS_semtimedop, shared[0], &take, 1, &kLong);
      },
      [](const int* shared, int) {
        sembuf give{0, 1, 0};
        semop(shared[0], &give, 1);
        const timespec pause{0, 50'000'000};
        nanosleep(&pause, nullptr);
        semctl(shared[0], 0, IPC_RMID);
      },
      0, 0);
  add("io_getevents", MakeNothing, GetEvents, own_timeout, 0, 0);
  add("io_uring_enter", MakeNothing, EnterRing, own_timeout, -1, ETIME);
  return calls;
}

// ---- calls that wait for an event ----

std::vector<BlockingCall> EventCalls() {
  std::vector<BlockingCall> calls;
  const auto add = [&](const char* name, Prepare prepare, std::function<int64_t(const int*)> call, Wake wake,
                       int64_t expected, int error) {
    calls.push_back({name, prepare, call, wake, expected, error});
  };
  add("read_pipe", MakePipe, ReadOnce, WakeByWrite, 1, 0);
  add("read_eventfd", MakeEventfd, ReadOnce, WakeByWrite, 1, 0);
  add(
      "read_timerfd", [](int* shared) { shared[0] = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC); }, ReadOnce,
      [](const int* shared, int) {
        const itimerspec soon{{0, 0}, {0, 1'000'000}};
        timerfd_settime(shared[0], 0, &soon, nullptr);
      },
      1, 0);
  add(
      "read_inotify",
      [](int* shared) {
        char name[] = "/tmp/mempulse-safety-XXXXXX";
        shared[1] = mkstemp(name);
        shared[0] = inotify_init1(IN_CLOEXEC);
        inotify_add_watch(shared[0], name, IN_MODIFY);
        unlink(name);
      },
      ReadOnce, WakeByWrite, 1, 0);
  add(
      "accept", MakeListener,
      [](const int* shared) {
        const int64_t peer = syscall(SYS_accept, shared[0], nullptr, nullptr);
        return peer >= 0 ? int64_t{1} : peer;
      },
      WakeByConnect, 1, 0);
  add(
      "msgrcv", [](int* shared) { shared[0] = msgget(IPC_PRIVATE, 0600); },
      [](const int* shared) {
        msgbuf message{};
        const int64_t got = syscall(SYS_msgrcv, shared[0], &message, 1, 0, 0);
        const int error = errno;
        msgctl(shared[0], IPC_RMID, nullptr);
        errno = error;
        return got;
      },
      [](const int* shared, int) {
        const msgbuf message{1, {0}};
        msgsnd(shared[0], &message, 1, 0);
      },
      1, 0);
  add("wait4", MakePipe, WaitForChild, WakeByWrite, 1, 0);
  // The one call that a signal is meant to end.
  add(
      "pause", MakeNothing,
      [](const int*) {
        signal(SIGUSR1, IgnoreInHandler);
        return syscall(SYS_pause);
      },
      [](const int*, int victim) { kill(victim, SIGUSR1); }, -1, EINTR);
  return calls;
}

}  // namespace

std::vector<BlockingCall> AllBlockingCalls() {
  std::vector<BlockingCall> calls = TimedCalls();
  for (BlockingCall& call : RestartedCalls()) calls.push_back(std::move(call));
  for (BlockingCall& call : EventCalls()) calls.push_back(std::move(call));
  return calls;
}

}  // namespace mempulse
