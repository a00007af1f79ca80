#pragma once

#include <string>
#include <vector>

#include "absl/types/span.h"
#include "collectors/pages/access_point.h"
#include "collectors/pages/tracker_access.h"

// Why a target refuses us, and what would help: arithmetic on facts, no system call.
namespace mempulse {

struct AccessRefusal {
  std::string reason;  // of the closed set of TrackerSupport
  std::string detail;
  std::string remedy;  // alternatives are separated by ", or "
};

// Which of the kernel's checks stand between us and `points`, each with what takes it away; empty when every
// point answered 0. All remedies together let us through.
std::vector<AccessRefusal> ExplainRefusals(absl::Span<const AccessPoint> points, const TargetAccess& access);

// Several refusals as one: the first one's reason and detail, every remedy, joined by "; and ".
AccessRefusal JoinRefusals(const std::vector<AccessRefusal>& refusals);

// Both for one point, which answered something other than 0.
AccessRefusal ExplainRefusal(AccessPoint point, const TargetAccess& access);

// Softdirty could use the target, if the kernel has it.
bool SoftDirtyMayBeUsed(const TargetAccess& access);

}  // namespace mempulse
