#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/personality.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "collectors/host/unique_fd.h"

namespace mempulse {

// A child of the test with pipes at its standard input and output, by which both wait for each other. Killed
// and reaped at the end.
class ChildProcess {
 public:
  // Runs in the child, between fork and exec.
  using Preparation = std::function<void()>;

  explicit ChildProcess(
      std::vector<std::string> command, const Preparation& prepare = [] {})
      : ChildProcess([&command, &prepare] {
          prepare();
          std::vector<char*> arguments;
          arguments.reserve(command.size() + 1);
          for (std::string& argument : command) arguments.push_back(argument.data());
          arguments.push_back(nullptr);
          execv(arguments[0], arguments.data());
        }) {}

  // `body` runs in the child, which then ends.
  explicit ChildProcess(const Preparation& body) {
    int to_child[2];
    int from_child[2];
    if (pipe2(to_child, O_CLOEXEC) != 0 || pipe2(from_child, O_CLOEXEC) != 0) abort();
    pid_ = fork();
    if (pid_ == 0) {
      dup2(to_child[0], STDIN_FILENO);
      dup2(from_child[1], STDOUT_FILENO);
      body();
      _exit(127);
    }
    input_.Reset(to_child[1]);
    output_.Reset(from_child[0]);
    close(to_child[0]);
    close(from_child[1]);
  }
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;
  ~ChildProcess() {
    Kill();
    Reap();
  }

  pid_t pid() const { return pid_; }

  void WriteLine(const std::string& line) const {
    const std::string text = line + "\n";
    EXPECT_EQ(write(input_.get(), text.data(), text.size()), static_cast<ssize_t>(text.size()));
  }

  // Blocks until the child has written a line; empty at its end.
  std::string ReadLine() const {
    std::string line;
    char c = 0;
    while (read(output_.get(), &c, 1) == 1 && c != '\n') line.push_back(c);
    return line;
  }

  void Kill() const {
    if (pid_ > 0) kill(pid_, SIGKILL);
  }
  // Blocks until the child is a zombie, which it stays.
  void AwaitZombie() const {
    siginfo_t info;
    waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOWAIT);
  }
  int Reap() {
    int status = 0;
    if (pid_ > 0) waitpid(std::exchange(pid_, -1), &status, 0);
    return status;
  }

 private:
  pid_t pid_ = -1;
  UniqueFd input_;
  UniqueFd output_;
};

// A shell that says "ready", and for each line it gets replaces itself by the same program with the same
// arguments.
inline std::vector<std::string> SelfReplacingShell() {
  const std::string script = "echo ready; read line; exec /bin/sh -c \"$SELF\"";
  setenv("SELF", script.c_str(), 1);
  return {"/bin/sh", "-c", script};
}

inline void WithoutRandomAddresses() { personality(ADDR_NO_RANDOMIZE); }

inline void BecomeNobody() {
  constexpr unsigned kNobody = 65534;
  if (setresgid(kNobody, kNobody, kNobody) != 0 || setresuid(kNobody, kNobody, kNobody) != 0) _exit(126);
}

}  // namespace mempulse
