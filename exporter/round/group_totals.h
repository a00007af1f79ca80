#pragma once

#include "exporter/round/round_report.h"
#include "exporter/round/target_watch.h"

// A group's sums since the exporter started, from the outcomes of its sweeps. Pure.
namespace mempulse {

// Every outcome and reason at 0, so that rates can be computed from the first failure on.
GroupTotals FreshTotals();

void AddOutcome(const WatchOutcome& outcome, GroupTotals* totals);

}  // namespace mempulse
