#pragma once

#include <sys/types.h>

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "collectors/host/capabilities.h"
#include "collectors/host/host.h"

namespace mempulse {

// What the running kernel says of itself. A setting that does not exist there is empty (no Yama, say).
struct KernelFacts {
  std::string release;  // "6.12.9+deb12-amd64"
  int major = 0;
  int minor = 0;
  std::optional<int> yama_scope;                // kernel.yama.ptrace_scope, 0-3
  std::optional<int> perf_event_paranoid;       // kernel.perf_event_paranoid
  std::optional<int> unprivileged_userfaultfd;  // vm.unprivileged_userfaultfd
  std::string transparent_hugepage;             // "always", "madvise", "never"; empty when absent

  bool AtLeast(int wanted_major, int wanted_minor) const {
    return major > wanted_major || (major == wanted_major && minor >= wanted_minor);
  }
};

// Never fails: what cannot be read stays empty. Thread-safe.
KernelFacts ReadKernelFacts(const Host& host);

// Who a process is to the kernel's permission checks.
struct ProcessSecurity {
  std::array<uint32_t, 4> uids = {};  // real, effective, saved, file system
  std::array<uint32_t, 4> gids = {};
  CapabilitySet effective;
  CapabilitySet permitted;
  int seccomp_mode = 0;  // 0 none, 1 strict, 2 filter
  bool no_new_privileges = false;
  pid_t tracer = 0;  // who ptraces it, 0 nobody
};

// The text of /proc/PID/status; InvalidArgument when it holds no Uid line.
absl::StatusOr<ProcessSecurity> ParseProcessSecurity(absl::string_view status_text);
// `pid` 0 is the calling process.
absl::StatusOr<ProcessSecurity> ReadProcessSecurity(const Host& host, pid_t pid);

// A soft and a hard limit; UINT64_MAX is unlimited.
struct ResourceLimit {
  uint64_t soft = 0;
  uint64_t hard = 0;
};

// The line of /proc/PID/limits that starts with `name` ("Max open files"); empty when there is none.
std::optional<ResourceLimit> ParseResourceLimit(absl::string_view limits_text, absl::string_view name);

}  // namespace mempulse
