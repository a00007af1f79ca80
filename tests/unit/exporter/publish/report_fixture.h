#pragma once

#include "exporter/round/round_report.h"

namespace mempulse {

// A round over three groups, made by hand: "cache" (two processes under different mechanisms, file regions, a
// hostile mapping name), "api" (every mechanism refused) and "idle" (nothing matched).
RoundReport FixtureReport();

// `regions` hot file regions for one process, each of one page of a library of its own; the first is the
// fastest.
ProcessReport ProcessWithFileRegions(int regions);

// Groups with all kinds and rungs, for limits and benchmarks.
RoundReport LargeReport(int groups, int regions);

}  // namespace mempulse
