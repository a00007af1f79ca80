#include <dlfcn.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <string>

#include "collectors/host/kernel_facts.h"
#include "collectors/pages/cooperative_offers.h"
#include "collectors/pages/tracker_own_probe.h"
#include "collectors/pages/writeprotect_tracker.h"
#include "collectors/targets/mapping_list.h"
#include "tests/safety/checked_work.h"
#include "tests/safety/victim.h"

// A target that has loaded the preload library works on, right and untouched, with no exporter, a dead one,
// one that dies in the middle of a sweep, and one that never listens to what it is told.
namespace mempulse {
namespace {

constexpr int kKills = 10;
constexpr int kForks = 20;

// Runs the library's constructor, as the loader does for LD_PRELOAD.
void LoadLibrary(const std::string& socket) {
  setenv("MEMPULSE_ATTACH_SOCKET", socket.c_str(), 1);
  if (dlopen(MEMPULSE_ATTACH_LIBRARY, RTLD_NOW) == nullptr) _exit(1);
}

void ExpectGoodEnd(Victim* victim) {
  victim->report().finish = true;
  EXPECT_EQ(victim->WaitEnd(), 0);
}

class Cooperative : public testing::Test {
 protected:
  Cooperative() : folder_(testing::TempDir() + "mempulse_cooperative_XXXXXX") {
    if (mkdtemp(folder_.data()) == nullptr) abort();
    socket_ = folder_ + "/attach.sock";
  }
  void SetUp() override {
    const Host host;
    const absl::StatusOr<ProcessSecurity> own = ReadProcessSecurity(host, 0);
    if (!own.ok() || own->seccomp_mode != 0)
      GTEST_SKIP() << "under a seccomp filter the library offers nothing";
    const TrackerSupport support = ProbeOwnWriteProtect(host);
    if (!support.supported) GTEST_SKIP() << "writeprotect does not work here: " << support.detail;
  }
  ~Cooperative() override { std::filesystem::remove_all(folder_); }

  std::unique_ptr<Victim> StartVictim() {
    auto victim = std::make_unique<Victim>([this](VictimReport* report) {
      LoadLibrary(socket_);
      WorkUntilFinish(report, false);
    });
    victim->WaitReady();
    return victim;
  }

  bool Listens() const {
    const UniqueFd probe(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    strncpy(address.sun_path, socket_.c_str(), sizeof(address.sun_path) - 1);
    return connect(probe.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0;
  }

  std::string folder_;
  std::string socket_;
};

// The exporter in a child of its own: waits for the offer of the process that the pipe names, then resets and
// looks without a pause. Says one byte down the other pipe when it begins.
[[noreturn]] void SweepWhatIsOffered(const std::string& socket, int named, int begun) {
  prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
  const Host host;
  const absl::StatusOr<std::unique_ptr<CooperativeOffers>> offers = CooperativeOffers::Open(host, socket);
  if (!offers.ok()) _exit(1);
  pid_t pid = 0;
  if (read(named, &pid, sizeof(pid)) != sizeof(pid)) _exit(2);
  const absl::StatusOr<Target> target = TargetOf(host, pid);
  if (!target.ok()) _exit(3);
  if (!Eventually([&] { return (*offers)->Newest(target->facts().id) != 0; })) _exit(4);
  absl::StatusOr<WriteProtection> offered = (*offers)->Take(target->facts().id);
  if (!offered.ok()) _exit(5);
  const auto tracker = OpenOfferedWriteProtectTracker(host, *target, *std::move(offered));
  if (!tracker.ok()) _exit(6);
  for (bool told = false;;) {
    bool truncated = false;
    const absl::StatusOr<std::vector<Mapping>> mappings = ReadMappings(host, pid, &truncated);
    const absl::StatusOr<Coverage> coverage =
        (*tracker)->Cover(mappings.value_or(std::vector<Mapping>{}), {});
    if (!coverage.ok()) _exit(7);
    Instant reset;
    std::vector<PageRange> written;
    for (int i = 0; i < 100; ++i) {
      written.clear();
      static_cast<void>((*tracker)->LookAndReset(coverage->ranges, &written, &reset));
    }
    if (!told && write(begun, "x", 1) != 1) _exit(8);
    told = true;
  }
}

TEST_F(Cooperative, WithoutAnExporterNothingIsDifferent) {
  const std::unique_ptr<Victim> victim = StartVictim();
  ExpectUntouched(victim.get());
  ExpectGoodEnd(victim.get());
}

TEST_F(Cooperative, ExporterKilledInTheMiddleOfASweep) {
  for (int i = 0; i < kKills; ++i) {
    int named[2];
    int begun[2];
    ASSERT_EQ(pipe(named), 0);
    ASSERT_EQ(pipe(begun), 0);
    const pid_t exporter = fork();
    if (exporter == 0) {
      close(begun[0]);
      SweepWhatIsOffered(socket_, named[0], begun[1]);
    }
    close(named[0]);
    close(begun[1]);
    EXPECT_TRUE(Eventually([this] { return Listens(); }));
    const std::unique_ptr<Victim> victim = StartVictim();
    const pid_t pid = victim->pid();
    EXPECT_EQ(write(named[1], &pid, sizeof(pid)), static_cast<ssize_t>(sizeof(pid)));
    char byte = 0;
    EXPECT_EQ(read(begun[0], &byte, 1), 1) << "the exporter ended by itself";
    SleepMicros(i * int64_t{1700});
    EXPECT_TRUE(HasProtectedMapping(pid));
    kill(exporter, SIGKILL);
    int status = 0;
    waitpid(exporter, &status, 0);
    EXPECT_TRUE(WIFSIGNALED(status)) << "exit status " << WEXITSTATUS(status);
    close(named[1]);
    close(begun[0]);
    ExpectUntouched(victim.get());
    ExpectGoodEnd(victim.get());
  }
  printf("%d kills in the middle of a sweep on an offered userfaultfd\n", kKills);
}

// Accepts nothing, or accepts and reads nothing: the target starts, forks and ends all the same.
TEST_F(Cooperative, ADeafExporterIsNotWaitedFor) {
  const UniqueFd deaf(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  strncpy(address.sun_path, socket_.c_str(), sizeof(address.sun_path) - 1);
  ASSERT_EQ(bind(deaf.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
  ASSERT_EQ(listen(deaf.get(), 1), 0);
  Victim victim([this](VictimReport* report) {
    LoadLibrary(socket_);
    report->ready = true;
    const int64_t begin = NowMicros();
    for (int i = 0; i < kForks; ++i) {
      const pid_t child = fork();
      if (child == 0) _exit(0);
      int status = 0;
      waitpid(child, &status, 0);
      if (status != 0) ++report->errors;
      ++report->rounds;
    }
    report->elapsed_micros = NowMicros() - begin;
  });
  victim.WaitReady();
  const UniqueFd accepted(accept4(deaf.get(), nullptr, nullptr, SOCK_CLOEXEC));  // and never read
  EXPECT_TRUE(accepted.valid());
  EXPECT_EQ(victim.WaitEnd(), 0);
  EXPECT_EQ(victim.report().errors, 0u);
  EXPECT_EQ(victim.report().rounds, static_cast<uint64_t>(kForks));
  printf("%d forks beside a socket that nobody reads: %.2f ms each\n", kForks,
         static_cast<double>(victim.report().elapsed_micros) / kForks / 1000);
}

// The userfaultfd stays with the exporter between two trackers: the memory of the target does not stay
// protected.
TEST_F(Cooperative, NothingStaysProtectedBetweenTwoTrackers) {
  const Host host;
  const absl::StatusOr<std::unique_ptr<CooperativeOffers>> offers = CooperativeOffers::Open(host, socket_);
  ASSERT_TRUE(offers.ok()) << offers.status();
  const std::unique_ptr<Victim> victim = StartVictim();
  const absl::StatusOr<Target> target = TargetOf(host, victim->pid());
  ASSERT_TRUE(target.ok()) << target.status();
  ASSERT_TRUE(Eventually([&] { return (*offers)->Newest(target->facts().id) != 0; }));
  for (int i = 0; i < 5; ++i) {
    absl::StatusOr<WriteProtection> offered = (*offers)->Take(target->facts().id);
    ASSERT_TRUE(offered.ok()) << offered.status();
    auto tracker = OpenOfferedWriteProtectTracker(host, *target, *std::move(offered));
    ASSERT_TRUE(tracker.ok()) << tracker.status();
    bool truncated = false;
    const absl::StatusOr<Coverage> coverage =
        (*tracker)->Cover(*ReadMappings(host, victim->pid(), &truncated), {});
    ASSERT_TRUE(coverage.ok()) << coverage.status();
    EXPECT_TRUE((*tracker)->Reset(coverage->ranges).ok());
    EXPECT_TRUE(HasProtectedMapping(victim->pid()));
    tracker->reset();
    ExpectUntouched(victim.get());
  }
  ExpectGoodEnd(victim.get());
}

}  // namespace
}  // namespace mempulse
