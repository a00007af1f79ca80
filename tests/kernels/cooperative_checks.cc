// A target that hands its userfaultfd over is measured where tracing it is refused: by the same user without
// any capability, no ancestor of the target, under each setting of Yama. Debian's kernels have Yama, most
// machines that build this do not.
#include <grp.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <fstream>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "collectors/pages/cooperative_offers.h"
#include "collectors/pages/page_tracker.h"
#include "collectors/pages/range_set.h"
#include "collectors/pages/tracker_access.h"
#include "collectors/pages/tracker_probe.h"
#include "collectors/targets/mapping_list.h"
#include "collectors/targets/process_facts.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/kernels/guest_kernel.h"

namespace mempulse {
namespace {

constexpr char kFolder[] = "/tmp/cooperative";
constexpr char kSocket[] = "/tmp/cooperative/attach.sock";
constexpr char kLibrary[] = MEMPULSE_BINARY_DIR "/preload/libmempulse_attach.so";
constexpr char kDemo[] = MEMPULSE_BINARY_DIR "/tests/workloads/mempulse_demo";
constexpr unsigned kUser = 1000;

bool Eventually(const std::function<bool()>& condition) {
  for (const absl::Time end = absl::Now() + absl::Seconds(40); absl::Now() < end;) {
    if (condition()) return true;
    absl::SleepFor(absl::Milliseconds(20));
  }
  return condition();
}

// For good: root's rights do not come back.
void BecomeUser() {
  const bool became = setgroups(0, nullptr) == 0 && setresgid(kUser, kUser, kUser) == 0 &&
                      setresuid(kUser, kUser, kUser) == 0 && prctl(PR_SET_DUMPABLE, 1, 0, 0, 0) == 0;
  if (!became) _exit(120);
}

void SetYama(int scope) { std::ofstream("/proc/sys/kernel/yama/ptrace_scope") << scope << std::endl; }

// A child that runs `life` as the user; killed and reaped at the end.
class Child {
 public:
  explicit Child(const std::function<int()>& life) : pid_(fork()) {
    if (pid_ != 0) return;
    prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    BecomeUser();
    _exit(life());
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child() {
    if (pid_ <= 0) return;
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }

  pid_t pid() const { return pid_; }
  // The exit status; 200 + the signal that killed it.
  int AwaitEnd() {
    int status = 0;
    waitpid(pid_, &status, 0);
    pid_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 200 + WTERMSIG(status);
  }

 private:
  pid_t pid_;
};

int RunDemo() {
  const std::string preload = absl::StrCat("LD_PRELOAD=", kLibrary);
  const std::string socket = absl::StrCat("MEMPULSE_ATTACH_SOCKET=", kSocket);
  const std::string report = absl::StrCat(kFolder, "/truth.json");
  const char* const arguments[] = {kDemo,      "--tiers",      "warm,cold", "--sleep",
                                   "--report", report.c_str(), nullptr};
  const char* const variables[] = {preload.c_str(), socket.c_str(), nullptr};
  execve(kDemo, const_cast<char**>(arguments), const_cast<char**>(variables));
  return 121;
}

// Where the demo says that its pages are; empty before it does.
std::vector<PageRange> PagesOf(const std::string& tier) {
  std::ifstream file(absl::StrCat(kFolder, "/truth.json"));
  const nlohmann::json report = nlohmann::json::parse(file, nullptr, /*allow_exceptions=*/false);
  if (report.is_discarded()) return {};
  for (const nlohmann::json& known : report["tiers"]) {
    if (known["name"] != tier) continue;
    const uint64_t start = known["address"].get<uint64_t>();
    return {{start, start + known["pages"].get<uint64_t>() * kPageSize}};
  }
  return {};
}

absl::StatusOr<Target> TargetOf(const Host& host, pid_t pid) {
  absl::StatusOr<ProcessFacts> facts = ReadProcessFacts(host, pid);
  if (!facts.ok()) return facts.status();
  return Target::Open(host, *std::move(facts));
}

// Looks until every page of the busy tier was seen written; none of the quiet one ever may. 0 or the failed
// step.
int MeasureWith(const Host& host, pid_t pid, PageTracker* tracker) {
  if (!Eventually([] { return !PagesOf("cold").empty(); })) return 30;
  bool truncated = false;
  const absl::StatusOr<std::vector<Mapping>> mappings = ReadMappings(host, pid, &truncated);
  if (!mappings.ok()) return 31;
  const absl::StatusOr<Coverage> coverage = tracker->Cover(*mappings, {});
  if (!coverage.ok() || coverage->pages == 0) return 32;
  const std::vector<PageRange> warm = PagesOf("warm");
  const std::vector<PageRange> cold = PagesOf("cold");
  std::vector<PageRange> seen;
  if (!tracker->Reset(coverage->ranges).ok()) return 33;
  const bool all = Eventually([&] {
    Instant reset;
    std::vector<PageRange> written;
    if (!tracker->LookAndReset(coverage->ranges, &written, &reset).ok()) return false;
    seen.insert(seen.end(), written.begin(), written.end());
    seen = MergeRanges(std::move(seen));
    return CountPages(IntersectRanges(seen, warm)) == CountPages(warm);
  });
  const uint64_t quiet = CountPages(IntersectRanges(seen, cold));
  std::printf("%d of %d busy pages seen, %d of %d quiet ones\n",
              static_cast<int>(CountPages(IntersectRanges(seen, warm))), static_cast<int>(CountPages(warm)),
              static_cast<int>(quiet), static_cast<int>(CountPages(cold)));
  std::fflush(stdout);
  return !all ? 34 : quiet != 0 ? 35 : 0;
}

struct Watched {
  std::unique_ptr<CooperativeOffers> offers;
  std::optional<Target> target;
};

// The exporter's beginning, as the user without capabilities: listens, hears of the target, and awaits what
// comes of its offer. 0 or the failed step.
int Meet(const Host& host, int named, OfferResult awaited, Watched* watched) {
  absl::StatusOr<std::unique_ptr<CooperativeOffers>> offers = CooperativeOffers::Open(host, kSocket);
  if (!offers.ok()) return 10;
  watched->offers = *std::move(offers);
  pid_t pid = 0;
  if (read(named, &pid, sizeof(pid)) != sizeof(pid)) return 11;
  absl::StatusOr<Target> target = TargetOf(host, pid);
  if (!target.ok()) return 12;
  watched->target = *std::move(target);
  const auto index = static_cast<size_t>(awaited);
  return Eventually([&] { return watched->offers->results()[index] == 1; }) ? 0 : 13;
}

absl::StatusOr<ChosenTracker> OpenCooperative(const Host& host, const Watched& watched) {
  return OpenTracker(host, *watched.target, ProbeTrackers(host), TrackerChoice::kWriteProtect,
                     AttachTerms{AttachChoice::kCooperative, watched.offers.get()});
}

// Under Yama the target's memory may not be traced, and still is measured.
int MeasureUnder(int scope, int named) {
  const Host host;
  Watched watched;
  if (const int step = Meet(host, named, OfferResult::kAccepted, &watched); step != 0) return step;
  if (scope > 0) {
    const absl::StatusOr<ChosenTracker> injected =
        OpenTracker(host, *watched.target, ProbeTrackers(host), TrackerChoice::kWriteProtect, true);
    if (!injected.ok() || injected->tracker != nullptr) return 14;
    if (injected->support[0].reason != "yama") return 15;
  }
  const absl::StatusOr<ChosenTracker> chosen = OpenCooperative(host, watched);
  if (!chosen.ok()) return 16;
  if (chosen->tracker == nullptr) {
    std::printf("%s: %s\n", chosen->support[0].reason.c_str(), chosen->support[0].detail.c_str());
    std::fflush(stdout);
    return 17;
  }
  return MeasureWith(host, watched.target->pid(), chosen->tracker.get());
}

// A kernel without asynchronous write protection: the offer is turned away, with the reason.
int BeRefusedByTheKernel(int named) {
  const Host host;
  Watched watched;
  if (const int step = Meet(host, named, OfferResult::kKernel, &watched); step != 0) return step;
  const absl::StatusOr<ChosenTracker> chosen = OpenCooperative(host, watched);
  if (!chosen.ok() || chosen->tracker != nullptr) return 18;
  return chosen->support[0].reason == "kernel" ? 0 : 19;
}

bool SomebodyListens() {
  struct stat file {};
  return stat(kSocket, &file) == 0 && (file.st_mode & 0777) == 0600 && file.st_uid == kUser;
}

class CooperativeAttach : public testing::Test {
 protected:
  void SetUp() override {
    mkdir(kFolder, 0777);
    chmod(kFolder, 0777);
    unlink(kSocket);
    unlink(absl::StrCat(kFolder, "/truth.json").c_str());
  }

  // What the exporter ended with: 0 is good.
  static int Watch(const std::function<int(int named)>& watch) {
    int named[2];
    if (pipe(named) != 0) return 119;
    Child exporter([&] { return watch(named[0]); });
    if (!Eventually(SomebodyListens)) return 118;
    const Child target(RunDemo);
    const pid_t pid = target.pid();
    EXPECT_EQ(write(named[1], &pid, sizeof(pid)), static_cast<ssize_t>(sizeof(pid)));
    const int status = exporter.AwaitEnd();
    EXPECT_EQ(waitpid(pid, nullptr, WNOHANG), 0) << "the target has ended";
    close(named[0]);
    close(named[1]);
    return status;
  }

  static void CheckScope(int scope) {
    const GuestKernel kernel = ReadGuestKernel();
    if (!kernel.has_wp_async()) {
      GTEST_SKIP() << "kernel " << kernel.release << " has no asynchronous write protection";
    }
    SetYama(scope);
    EXPECT_EQ(Watch([scope](int named) { return MeasureUnder(scope, named); }), 0);
  }
};

TEST_F(CooperativeAttach, TheKernelDecidesWhetherAnOfferIsGood) {
  SetYama(1);
  const bool good = ReadGuestKernel().has_wp_async();
  EXPECT_EQ(Watch([good](int named) { return good ? MeasureUnder(1, named) : BeRefusedByTheKernel(named); }),
            0);
}

TEST_F(CooperativeAttach, MeasuresWithoutYama) { CheckScope(0); }
TEST_F(CooperativeAttach, MeasuresAStrangersProcessUnderYama1) { CheckScope(1); }
TEST_F(CooperativeAttach, MeasuresUnderYama2WhichIsForAdministrators) { CheckScope(2); }
// Last, because it stays until the next boot.
TEST_F(CooperativeAttach, MeasuresUnderYama3WhichIsForNobody) { CheckScope(3); }

}  // namespace
}  // namespace mempulse
