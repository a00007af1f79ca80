#pragma once

#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/types/span.h"
#include "exporter/analysis/page_frequency.h"
#include "exporter/analysis/rung_reading.h"

namespace mempulse {

struct Verdict {
  PageState state = PageState::kTooFew;
  double frequency = 0;
  Interval bounds;
  double steady_high = 0;      // as PageFrequency has it; 0: bounds.high
  bool while_running = false;  // judged by the looks in which the target ran; rates are per running time
};

// What the tracker can and cannot see.
struct TrackerTruth {
  bool atomic = true;         // no write is lost between look and reset
  bool sees_restores = true;  // a write that restores the old value is seen
};

// One page's readings, longest window first, at least one, each with looks > 0, become one answer. `busy`
// gives the same rungs again, read from the looks in which the target ran; it is called only when it may
// matter.
Verdict Judge(absl::Span<const RungReading> readings, const TrackerTruth& tracker,
              const InvertOptions& options, absl::FunctionRef<std::vector<RungReading>()> busy);

}  // namespace mempulse
