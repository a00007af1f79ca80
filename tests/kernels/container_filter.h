#pragma once

#include <cstdint>
#include <vector>

namespace mempulse {

// The default seccomp profiles that containers run under, for the calls that matter to us: Docker's, which
// containerd and Kubernetes (RuntimeDefault) have too, and podman's.
enum class ContainerFilter { kNone, kDocker, kPodman };

// The system calls that the profile refuses with EPERM to a container that has these capabilities (bits).
std::vector<int> DeniedCalls(ContainerFilter filter, uint64_t capabilities);

// Puts the calling process, for good, under a filter that refuses these calls with EPERM. Sets no_new_privs.
bool InstallFilter(const std::vector<int>& denied);

}  // namespace mempulse
