#pragma once

#include <memory>

#include "absl/status/statusor.h"
#include "collectors/host/host.h"
#include "collectors/pages/page_tracker.h"
#include "collectors/pages/userfaultfd.h"
#include "collectors/targets/target.h"

namespace mempulse {

// Userfaultfd write protection (WP_ASYNC) of the target's own address space, held from outside, read and
// re-armed with PAGEMAP_SCAN: an atomic get-and-reset on any range. Linux 6.7 or later. Opening stops one
// thread of the target for some tens of microseconds (see attach_userfaultfd.h).
absl::StatusOr<std::unique_ptr<PageTracker>> OpenWriteProtectTracker(const Host& host, const Target& target);

// The same on a userfaultfd that the target gave away itself (see cooperative_offers.h): nothing is stopped,
// and no permission to trace is needed. Unavailable, "foreign_memory: ...", when it does not belong to the
// target's memory. Destroying the tracker takes the protection away and leaves the other owners of `offered`
// theirs.
absl::StatusOr<std::unique_ptr<PageTracker>> OpenOfferedWriteProtectTracker(const Host& host,
                                                                            const Target& target,
                                                                            WriteProtection offered);

}  // namespace mempulse
