#pragma once

#include <sys/types.h>

#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "collectors/host/host.h"
#include "collectors/host/kernel_facts.h"
#include "collectors/pages/tracker_access.h"
#include "collectors/pages/tracker_probe.h"
#include "collectors/targets/target.h"

namespace mempulse {

// What `mempulsectl doctor` found out, as plain values.
struct DoctorFacts {
  KernelFacts kernel;
  long page_size_bytes = 0;
  ProcessSecurity own;
  bool initial_user_namespace = true;  // our uid 0 and capabilities are the machine's
  ResourceLimit open_files;            // RLIMIT_NOFILE
  ResourceLimit locked_memory_bytes;   // RLIMIT_MEMLOCK
  std::vector<TrackerSupport> mechanisms;

  struct OfTarget {
    ProcessFacts process;
    TargetAccess access;
    std::vector<TrackerSupport> mechanisms;  // as if its group said attach: true
    TrackerSupport cooperative;  // writeprotect as if it said attach: cooperative, and somebody listened
  };
  std::optional<OfTarget> target;
};

// Probes every mechanism and, when a pid is given, what may be done to that process. NotFound: no such
// process.
absl::StatusOr<DoctorFacts> CollectDoctorFacts(const Host& host, std::optional<pid_t> pid);

}  // namespace mempulse
