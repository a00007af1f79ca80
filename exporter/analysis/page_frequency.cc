#include "exporter/analysis/page_frequency.h"

namespace mempulse {

absl::string_view PageStateName(PageState state) {
  switch (state) {
    case PageState::kMeasured:
      return "measured";
    case PageState::kAtCeiling:
      return "at_ceiling";
    case PageState::kUnfit:
      return "unfit";
    case PageState::kProbeLimited:
      return "probe_limited";
    case PageState::kTargetIdle:
      return "target_idle";
    case PageState::kTooFew:
      return "too_few";
  }
  return "";
}

}  // namespace mempulse
