#pragma once

#include <memory>

#include "absl/status/statusor.h"
#include "collectors/host/host.h"
#include "collectors/pages/page_tracker.h"
#include "collectors/targets/target.h"

namespace mempulse {

// The kernel's soft-dirty bit: clear_refs "4" and pagemap bit 55 (or PAGEMAP_SCAN where it has the category).
// Clears the whole process; read and clear are two steps. One tracker a process: see OpenSoftDirtyKernel.
absl::StatusOr<std::unique_ptr<PageTracker>> OpenSoftDirtyTracker(const Host& host, const Target& target);

}  // namespace mempulse
