#pragma once

#include "absl/status/statusor.h"
#include "collectors/host/unique_fd.h"
#include "collectors/pages/attach_injection.h"

namespace mempulse {

struct InjectionResult {
  InjectionReply reply;
  UniqueFd userfaultfd;  // valid only with kTaken
};

// Runs InjectUserfaultfd in a forked process that outlives us, with all signals blocked, and waits for its
// answer. Internal when that process died, DeadlineExceeded when it did not answer within `timeout_nanos`,
// ResourceExhausted when there is none to be had. Thread-safe, also in a process with other threads.
absl::StatusOr<InjectionResult> RunInjectionProcess(const InjectionPlan& plan, int64_t timeout_nanos);

}  // namespace mempulse
