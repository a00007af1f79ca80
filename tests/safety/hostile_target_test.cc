#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <linux/userfaultfd.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <cstdio>

#include "absl/strings/match.h"
#include "collectors/pages/userfaultfd.h"
#include "collectors/pages/writeprotect_tracker.h"
#include "collectors/targets/mapping_list.h"
#include "tests/safety/checked_work.h"
#include "tests/safety/victim.h"

// Targets for which an attach would be deadly, impossible, or somebody else's business: refused with a
// reason, unharmed.
namespace mempulse {
namespace {

constexpr uid_t kNobody = 65534;

void ExpectUnharmed(Victim* victim) {
  EXPECT_TRUE(victim->Progresses());
  EXPECT_EQ(victim->report().errors, 0u);
  EXPECT_EQ(StatusField(victim->pid(), "TracerPid"), "0");
  EXPECT_EQ(StatusField(victim->pid(), "SigBlk"), "0000000000000000");
}

void ExpectRefused(const absl::StatusOr<AttachResult>& attached, absl::string_view reason) {
  EXPECT_TRUE(absl::IsUnavailable(attached.status())) << attached.status();
  EXPECT_TRUE(absl::StartsWith(attached.status().message(), reason)) << attached.status();
}

// userfaultfd and close are death.
void InstallDeadlyFilter() {
  std::array<sock_filter, 5> code = {{
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_userfaultfd, 2, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_close, 1, 0),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
  }};
  const sock_fprog program{static_cast<unsigned short>(code.size()), code.data()};
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0);
}

void BecomeNobody() {
  if (setresgid(kNobody, kNobody, kNobody) != 0 || setresuid(kNobody, kNobody, kNobody) != 0) _exit(3);
  prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
}

TEST(HostileTarget, DeadlyFilterIsSuspendedForRoot) {
  if (geteuid() != 0) GTEST_SKIP() << "suspending a filter needs CAP_SYS_ADMIN";
  Victim victim([](VictimReport* report) {
    InstallDeadlyFilter();
    WorkUntilFinish(report, true);
  });
  victim.WaitReady();
  for (int i = 0; i < 50; ++i) {
    const absl::StatusOr<AttachResult> attached = AttachTo(victim.pid());
    ASSERT_TRUE(attached.ok()) << attached.status();
  }
  ExpectUnharmed(&victim);
  EXPECT_EQ(StatusField(victim.pid(), "Seccomp"), "2");
}

TEST(HostileTarget, DeadlyFilterIsRefusedWithoutPrivilege) {
  if (geteuid() != 0) GTEST_SKIP() << "needs root to become another user";
  Victim victim([](VictimReport* report) {
    BecomeNobody();
    InstallDeadlyFilter();
    WorkUntilFinish(report, true);
  });
  victim.WaitReady();
  Victim exporter([&](VictimReport*) {
    BecomeNobody();
    const absl::StatusOr<AttachResult> attached = AttachTo(victim.pid());
    if (!absl::StartsWith(attached.status().message(), "seccomp: ")) _exit(1);
  });
  EXPECT_EQ(exporter.WaitEnd(), 0);
  ExpectUnharmed(&victim);
}

TEST(HostileTarget, UnprivilegedExporterAttachesToItsOwnUser) {
  if (geteuid() != 0) GTEST_SKIP() << "needs root to become another user";
  Victim victim([](VictimReport* report) {
    BecomeNobody();
    WorkUntilFinish(report, true);
  });
  victim.WaitReady();
  Victim exporter([&](VictimReport*) {
    BecomeNobody();
    if (!AttachTo(victim.pid()).ok()) _exit(1);
  });
  EXPECT_EQ(exporter.WaitEnd(), 0);
  ExpectUnharmed(&victim);
}

TEST(HostileTarget, AnotherUsersProcessIsRefused) {
  if (geteuid() != 0) GTEST_SKIP() << "needs root to become another user";
  Victim victim([](VictimReport* report) { WorkUntilFinish(report, true); });
  victim.WaitReady();
  Victim exporter([&](VictimReport*) {
    BecomeNobody();
    const absl::StatusOr<AttachResult> attached = AttachTo(victim.pid());
    if (!absl::IsUnavailable(attached.status())) _exit(1);
  });
  EXPECT_EQ(exporter.WaitEnd(), 0);
  ExpectUnharmed(&victim);
}

TEST(HostileTarget, TracedByAnother) {
  Victim victim([](VictimReport* report) { WorkUntilFinish(report, true); });
  victim.WaitReady();
  ASSERT_EQ(ptrace(PTRACE_SEIZE, victim.pid(), nullptr, nullptr), 0);
  ExpectRefused(AttachTo(victim.pid()), "foreign_tracker: ");
  EXPECT_TRUE(victim.Progresses());
}

TEST(HostileTarget, HasNoFreeDescriptor) {
  Victim victim([](VictimReport* report) {
    const rlimit none{0, 0};
    setrlimit(RLIMIT_NOFILE, &none);
    WorkUntilFinish(report, false);
  });
  victim.WaitReady();
  ExpectRefused(AttachTo(victim.pid()), "error: the target has no free file descriptor");
  ExpectUnharmed(&victim);
}

TEST(HostileTarget, RedirectsItsSystemCalls) {
  Victim victim([](VictimReport* report) {
    static char selector = 0;  // SYSCALL_DISPATCH_FILTER_ALLOW
    if (prctl(59 /* PR_SET_SYSCALL_USER_DISPATCH */, 1, 0, 0, &selector) != 0) _exit(1);
    WorkUntilFinish(report, false);
  });
  victim.WaitReady();
  ExpectRefused(AttachTo(victim.pid()), "error: the target redirects its system calls");
  ExpectUnharmed(&victim);
}

// Jumps to "inc dword [ebx]; jmp $-2" in a 32-bit code segment.
[[noreturn]] void CountIn32Bit(uint32_t code, uint32_t counter) {
  asm volatile(
      "movl $0x2b, %%eax\n\t"
      "movl %%eax, %%ds\n\t"
      "movl %1, %%ebx\n\t"
      "subq $8, %%rsp\n\t"
      "movl %0, (%%rsp)\n\t"
      "movl $0x23, 4(%%rsp)\n\t"
      "lretl"
      :
      : "r"(code), "r"(counter)
      : "rax", "rbx", "memory");
  __builtin_unreachable();
}

TEST(HostileTarget, Runs32BitCode) {
  Victim victim([](VictimReport* report) {
    auto* low = static_cast<unsigned char*>(mmap(nullptr, 8192, PROT_READ | PROT_WRITE | PROT_EXEC,
                                                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0));
    low[0] = 0xff;
    low[1] = 0x03;
    low[2] = 0xeb;
    low[3] = 0xfc;
    report->values[0] = reinterpret_cast<uint64_t>(low + 4096);
    report->ready = true;
    const auto code = static_cast<uint32_t>(reinterpret_cast<uint64_t>(low));
    CountIn32Bit(code, code + 4096);
  });
  victim.WaitReady();
  SleepMicros(20'000);
  if (!victim.Alive()) GTEST_SKIP() << "this kernel runs no 32-bit code";
  ExpectRefused(AttachTo(victim.pid()), "architecture: ");
  EXPECT_TRUE(victim.Alive());
  EXPECT_EQ(StatusField(victim.pid(), "State")[0], 'R');
}

TEST(HostileTarget, UninterruptibleIsGivenUpInTime) {
  Victim victim([](VictimReport* report) {
    report->ready = true;
    if (vfork() == 0) {
      SleepMicros(1'500'000);
      _exit(0);
    }
    WorkUntilFinish(report, true);
  });
  victim.WaitReady();
  ASSERT_TRUE(Eventually([&] { return StatusField(victim.pid(), "State")[0] == 'D'; }));
  const int64_t begin = NowMicros();
  const absl::StatusOr<AttachResult> attached = AttachTo(victim.pid());
  EXPECT_TRUE(absl::IsDeadlineExceeded(attached.status())) << attached.status();
  EXPECT_LT(NowMicros() - begin, 1'000'000);
  ExpectUnharmed(&victim);
}

// A mapping that the target's own userfaultfd has.
void OwnAUserfaultfd(VictimReport* report) {
  void* memory = mmap(nullptr, 16 * kPageSize, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  const int fd = static_cast<int>(syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK));
  uffdio_api api{};
  api.api = UFFD_API;
  ioctl(fd, UFFDIO_API, &api);
  uffdio_register request{};
  request.range = {reinterpret_cast<uint64_t>(memory), 16 * kPageSize};
  request.mode = UFFDIO_REGISTER_MODE_MISSING;
  ioctl(fd, UFFDIO_REGISTER, &request);
  uffdio_zeropage zero{};
  zero.range = {reinterpret_cast<uint64_t>(memory), kPageSize};
  if (ioctl(fd, UFFDIO_ZEROPAGE, &zero) != 0) ++report->errors;
  report->values[0] = reinterpret_cast<uint64_t>(memory);
  report->ready = true;
  while (report->values[1] == 0) SleepMicros(1000);
  // Still its own: the fault of a page that is missing is answered by nobody else.
  zero.range = {reinterpret_cast<uint64_t>(memory) + kPageSize, kPageSize};
  if (ioctl(fd, UFFDIO_ZEROPAGE, &zero) != 0) ++report->errors;
  WorkUntilFinish(report, true);
}

TEST(HostileTarget, KeepsItsOwnUserfaultfd) {
  Victim victim(OwnAUserfaultfd);
  victim.WaitReady();
  const uint64_t memory = victim.report().values[0];
  const Host host;
  const absl::StatusOr<Target> target = TargetOf(host, victim.pid());
  ASSERT_TRUE(target.ok());
  {
    absl::StatusOr<std::unique_ptr<PageTracker>> tracker = OpenWriteProtectTracker(host, *target);
    ASSERT_TRUE(tracker.ok()) << tracker.status();
    bool truncated = false;
    const absl::StatusOr<Coverage> coverage =
        (*tracker)->Cover(*ReadMappings(host, victim.pid(), &truncated), {});
    ASSERT_TRUE(coverage.ok());
    bool refused = false;
    for (const Coverage::Refusal& refusal : coverage->refusals) {
      refused |= refusal.range.start == memory && refusal.reason == "foreign_userfaultfd";
    }
    EXPECT_TRUE(refused);
  }
  victim.report().values[1] = 1;
  ExpectUnharmed(&victim);
}

}  // namespace
}  // namespace mempulse
