#include "exporter/round/group_totals.h"

#include <algorithm>

namespace mempulse {
namespace {

void CountObservations(const std::vector<double>& hertz, GroupTotals* totals) {
  for (const double value : hertz) {
    const auto bound = std::lower_bound(kObservationBounds.begin(), kObservationBounds.end(), value);
    ++totals->observations[static_cast<size_t>(bound - kObservationBounds.begin())];
    totals->observation_sum_hertz += value;
  }
}

void AddEffect(const ObserverEffect& effect, ObserverEffect* sum) {
  sum->stop_seconds += effect.stop_seconds;
  sum->stops += effect.stops;
  sum->induced_faults += effect.induced_faults;
  sum->huge_pages_split += effect.huge_pages_split;
  sum->lock_seconds += effect.lock_seconds;
  sum->own_cpu_seconds += effect.own_cpu_seconds;
}

void AddCrossCheck(const CrossCheck& check, GroupTotals* totals) {
  if (check.pages() == 0) return;
  ++totals->cross_checks;
  totals->cross_check.confirmed += check.confirmed;
  totals->cross_check.unchanged += check.unchanged;
  totals->cross_check.unconfirmed += check.unconfirmed;
  totals->cross_check.missed += check.missed;
}

}  // namespace

GroupTotals FreshTotals() {
  GroupTotals totals;
  for (int outcome = 0; outcome < kSweepOutcomeCount; ++outcome) {
    totals.sweeps[SweepOutcomeName(static_cast<SweepOutcome>(outcome))] = 0;
  }
  for (const char* reason : kErrorReasons) totals.errors[reason] = 0;
  return totals;
}

void AddOutcome(const WatchOutcome& outcome, GroupTotals* totals) {
  ++totals->sweeps[SweepOutcomeName(outcome.outcome)];
  if (!outcome.error_reason.empty() && !absl::IsCancelled(outcome.problem)) {
    ++totals->errors[outcome.error_reason];
  }
  AddEffect(outcome.effect, &totals->effect);
  CountObservations(outcome.observed_hertz, totals);
  AddCrossCheck(outcome.cross_check, totals);
}

}  // namespace mempulse
