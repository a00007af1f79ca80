#pragma once

#include "absl/status/status.h"
#include "collectors/pages/tracker_access.h"
#include "collectors/pages/tracker_probe.h"

// Whether a target can be watched through the userfaultfd that it hands over itself. Arithmetic on facts.
namespace mempulse {

// What CooperativeOffers::Take says about the process, without keeping the share. `offers` null: nobody
// listens.
absl::Status OfferStatus(CooperativeOffers* offers, const ProcessId& id);

// `own` is the probe of writeprotect on our own memory. Needs less of the target than an injection does: maps
// and pagemap, which Yama does not guard; nothing is traced.
TrackerSupport DecideCooperative(const TrackerSupport& own, const TargetAccess& access,
                                 const absl::Status& offer);

}  // namespace mempulse
