#include "tests/kernels/container_filter.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include <cerrno>
#include <cstddef>
#include <initializer_list>

#include "collectors/host/capabilities.h"

namespace mempulse {
namespace {

void Add(std::initializer_list<int> calls, std::vector<int>* denied) {
  for (const int call : calls) denied->push_back(call);
}

}  // namespace

// After profiles/seccomp/default.json of Moby and pkg/seccomp/seccomp.json of containers/common.
std::vector<int> DeniedCalls(ContainerFilter filter, uint64_t capabilities) {
  std::vector<int> denied;
  if (filter == ContainerFilter::kNone) return denied;
  const CapabilitySet held(capabilities);
  const bool admin = held.Has(Capability::kSysAdmin);
  const bool docker = filter == ContainerFilter::kDocker;
  Add({SYS_userfaultfd}, &denied);
  if (!held.Has(Capability::kSysPtrace)) {
    Add({SYS_kcmp, SYS_process_madvise}, &denied);
    if (docker) {
      Add({SYS_pidfd_getfd}, &denied);
    } else {
      Add({SYS_ptrace, SYS_process_vm_readv, SYS_process_vm_writev}, &denied);
    }
  }
  if (!admin && !(docker && held.Has(Capability::kBpf))) Add({SYS_bpf}, &denied);
  if (!admin && !(docker && held.Has(Capability::kPerfmon))) Add({SYS_perf_event_open}, &denied);
  return denied;
}

bool InstallFilter(const std::vector<int>& denied) {
  std::vector<sock_filter> code = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr))};
  for (const int call : denied) {
    code.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<uint32_t>(call), 0, 1));
    code.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM));
  }
  code.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
  const sock_fprog program{static_cast<unsigned short>(code.size()), code.data()};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

}  // namespace mempulse
