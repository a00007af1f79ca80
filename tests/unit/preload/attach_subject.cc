// attach_subject WHAT: a program that the preload library is loaded into. Does WHAT, compares what the
// library must leave alone before and after, and ends with 0 when all is as it should be; else with the
// number of the check that failed.
#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <string>

namespace {

constexpr int kMarkedErrno = 77;

// Exits at once: a failed check in a child becomes the parent's failure.
void Check(int number, bool holds) {
  if (!holds) _exit(number);
}

int OpenDescriptors() {
  DIR* const folder = opendir("/proc/self/fd");
  int count = 0;
  while (readdir(folder) != nullptr) ++count;
  closedir(folder);
  return count - 3;  // ".", ".." and the folder's own
}

bool SignalsAreThoseOfAFreshProgram() {
  sigset_t mask;
  sigprocmask(SIG_BLOCK, nullptr, &mask);
  for (int number = 1; number < 65; ++number) {
    if (sigismember(&mask, number) == 1) return false;
  }
  struct sigaction pipe_action {};
  sigaction(SIGPIPE, nullptr, &pipe_action);
  return pipe_action.sa_handler == SIG_DFL;
}

int StatusOf(pid_t child) {
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 100;
}

// Descriptors 0 to 2 and nothing else, and no signal touched.
void CheckFresh() {
  Check(1, OpenDescriptors() == 3);
  Check(2, SignalsAreThoseOfAFreshProgram());
}

void ForkOnce() {
  errno = kMarkedErrno;
  const pid_t child = fork();
  if (child == 0) {
    Check(11, errno == kMarkedErrno);
    CheckFresh();
    _exit(0);
  }
  Check(12, errno == kMarkedErrno);
  const int status = StatusOf(child);
  Check(status, status == 0);
}

// vfork, posix_spawn and clone run no handler of ours: their children share our memory.
void StartWithoutFork() {
  const pid_t child = vfork();  // NOLINT(clang-analyzer-security.insecureAPI.vfork): others do, too
  if (child == 0) _exit(0);
  Check(21, StatusOf(child) == 0);
  char path[] = "/bin/true";
  char* arguments[] = {path, nullptr};
  char* nothing[] = {nullptr};  // no LD_PRELOAD: what is started there offers nothing
  pid_t spawned = 0;
  Check(22, posix_spawn(&spawned, path, nullptr, nullptr, arguments, nothing) == 0);
  Check(23, StatusOf(spawned) == 0);
  static char stack[65536];
  const auto end_at_once = [](void*) { return 0; };
  const pid_t cloned = clone(end_at_once, stack + sizeof(stack), CLONE_VM | SIGCHLD, nullptr);
  Check(24, cloned > 0 && StatusOf(cloned) == 0);
}

void ForkBesideThreads() {
  constexpr int kThreads = 4;
  static std::atomic<bool> done{false};
  pthread_t threads[kThreads];
  const auto allocate = [](void*) -> void* {
    while (!done) free(malloc(1000));
    return nullptr;
  };
  for (pthread_t& thread : threads) Check(31, pthread_create(&thread, nullptr, allocate, nullptr) == 0);
  for (int i = 0; i < 20; ++i) ForkOnce();
  done = true;
  for (const pthread_t thread : threads) pthread_join(thread, nullptr);
}

void ForkWithoutDescriptors() {
  rlimit usual{};
  Check(41, getrlimit(RLIMIT_NOFILE, &usual) == 0);
  const rlimit none{3, usual.rlim_max};
  Check(42, setrlimit(RLIMIT_NOFILE, &none) == 0);
  const pid_t child = fork();
  if (child == 0) _exit(0);
  Check(43, StatusOf(child) == 0);
  Check(44, setrlimit(RLIMIT_NOFILE, &usual) == 0);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "";
  CheckFresh();
  if (what == "fork") ForkOnce();
  if (what == "start") StartWithoutFork();
  if (what == "threads") ForkBesideThreads();
  if (what == "descriptors") ForkWithoutDescriptors();
  if (what == "exec") execl(argv[0], argv[0], "once", nullptr);
  CheckFresh();
  return 0;
}
