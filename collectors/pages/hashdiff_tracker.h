#pragma once

#include <memory>

#include "absl/status/statusor.h"
#include "collectors/host/host.h"
#include "collectors/pages/page_tracker.h"
#include "collectors/targets/target.h"

namespace mempulse {

// Present pages read through /proc/PID/mem and hashed (XXH3 64); a page whose hash differs was written. Blind
// to a write that restores the old value. Never populates a page and never swaps one in.
absl::StatusOr<std::unique_ptr<PageTracker>> OpenHashDiffTracker(const Host& host, const Target& target);

}  // namespace mempulse
