#pragma once

#include "collectors/pages/access_refusal.h"
#include "collectors/pages/tracker_access.h"
#include "collectors/pages/tracker_kind.h"
#include "collectors/pages/tracker_probe.h"

// Which mechanism may be used on a target: arithmetic on facts, no system call.
namespace mempulse {

// May and can this mechanism be used on the target? `own` is the mechanism's probe on our own memory. Where
// not, the reason and detail are of the first thing in the way, and the remedy takes everything away that is.
TrackerSupport DecideSupport(const TrackerSupport& own, const TargetAccess& access, bool attach_allowed);

}  // namespace mempulse
