#include "tests/safety/victim.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <new>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace mempulse {

Victim::Victim(const std::function<void(VictimReport*)>& life) {
  void* shared =
      mmap(nullptr, sizeof(VictimReport), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  report_ = new (shared) VictimReport;
  pid_ = fork();
  if (pid_ == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    life(report_);
    _exit(0);
  }
}

Victim::~Victim() {
  if (!reaped_) {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  munmap(report_, sizeof(VictimReport));
}

void Victim::WaitReady() {
  ASSERT_TRUE(Eventually([this] { return report_->ready.load(); })) << "the victim did not start";
}

bool Victim::Progresses(uint64_t rounds) {
  const uint64_t goal = report_->rounds + rounds;
  return Eventually([&] { return report_->rounds >= goal || !Alive(); }) && Alive();
}

int Victim::WaitEnd() {
  int status = -1;
  Eventually([&] { return reaped_ = waitpid(pid_, &status, WNOHANG) == pid_; });
  return status;
}

bool Victim::Alive() const {
  siginfo_t info{};
  return waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == 0;
}

absl::StatusOr<Target> TargetOf(const Host& host, pid_t pid) {
  absl::StatusOr<ProcessFacts> facts = ReadProcessFacts(host, pid);
  if (!facts.ok()) return facts.status();
  return Target::Open(host, *std::move(facts));
}

absl::StatusOr<AttachResult> AttachTo(pid_t pid) {
  const Host host;
  absl::StatusOr<Target> target = TargetOf(host, pid);
  if (!target.ok()) return target.status();
  return AttachUserfaultfd(host, *target, AttachOptions{});
}

int CountUserfaultfds(pid_t pid) {
  const Host host;
  int count = 0;
  for (const pid_t fd : host.ListNumeric(absl::StrCat(pid, "/fd")).value_or(std::vector<pid_t>{})) {
    const absl::StatusOr<std::string> link = host.ReadLink(host.ProcPath(pid, absl::StrCat("fd/", fd)));
    if (link.ok() && absl::StrContains(*link, "userfaultfd")) ++count;
  }
  return count;
}

std::string StatusField(pid_t pid, const std::string& key) {
  const absl::StatusOr<std::string> text = Host().ReadProcFile(pid, "status");
  if (!text.ok()) return "";
  for (const absl::string_view line : absl::StrSplit(*text, '\n')) {
    if (absl::StartsWith(line, absl::StrCat(key, ":\t"))) return std::string(line.substr(key.size() + 2));
  }
  return "";
}

int64_t NowMicros() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1'000'000LL + now.tv_nsec / 1000;
}

void SleepMicros(int64_t micros) {
  timespec left{micros / 1'000'000, micros % 1'000'000 * 1000};
  while (nanosleep(&left, &left) != 0) {
  }
}

bool Eventually(const std::function<bool()>& condition) {
  for (const int64_t end = NowMicros() + 10'000'000; NowMicros() < end; SleepMicros(1000)) {
    if (condition()) return true;
  }
  return condition();
}

bool HasProtectedMapping(pid_t pid) {
  const absl::StatusOr<std::string> smaps = Host().ReadProcFile(pid, "smaps", 16 << 20);
  return smaps.ok() && absl::StrContains(*smaps, " uw");
}

void ExpectUntouched(Victim* victim) {
  EXPECT_TRUE(victim->Progresses(100));
  EXPECT_EQ(victim->report().errors, 0u);
  EXPECT_EQ(victim->report().interrupted, 0u);
  EXPECT_EQ(StatusField(victim->pid(), "TracerPid"), "0");
  EXPECT_EQ(StatusField(victim->pid(), "SigBlk"), "0000000000000000");
  EXPECT_EQ(CountUserfaultfds(victim->pid()), 0);
  EXPECT_FALSE(HasProtectedMapping(victim->pid()));
}

}  // namespace mempulse
