#include "collectors/pages/sweep_sample.h"

namespace mempulse {

const char* SweepOutcomeName(SweepOutcome outcome) {
  switch (outcome) {
    case SweepOutcome::kComplete:
      return "complete";
    case SweepOutcome::kBudget:
      return "budget";
    case SweepOutcome::kTimeLimit:
      return "time_limit";
    case SweepOutcome::kExecuted:
      return "executed";
    case SweepOutcome::kExited:
      return "exited";
    case SweepOutcome::kStopped:
      return "stopped";
    case SweepOutcome::kFailed:
      return "failed";
    case SweepOutcome::kForeignTracker:
      return "foreign_tracker";
  }
  return "failed";
}

}  // namespace mempulse
