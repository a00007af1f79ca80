#pragma once

#include <optional>

#include "absl/types/span.h"
#include "exporter/analysis/invert_windows.h"
#include "exporter/analysis/rung_reading.h"

// Do the rungs of one page tell the same story? Readings are ordered longest window first.
namespace mempulse {

enum class Fit { kPeriodic, kMemoryless, kNone };

// Periodic: one frequency lies in what every rung allows. Memoryless: only if the writes came at random.
Fit FitOf(absl::Span<const RungReading> readings);

// Index of the rung to read the frequency off: the largest unsaturated one that may be trusted, else the
// finest that missed at all; nothing when no rung has enough hits and a miss.
std::optional<size_t> ChooseRung(absl::Span<const RungReading> readings, const InvertOptions& options);

// Greatest lower bound that rungs hit in every look give.
double SaturatedFloor(absl::Span<const RungReading> readings, const InvertOptions& options);

// A rung whose own load is too high reads less than a longer, saturated rung allows: the probing slowed the
// writer.
bool ProbeCollapsed(absl::Span<const RungReading> readings, const InvertOptions& options);

// One and the same hit rate on every rung is impossible. While it is possible, a tracker that misses restored
// values has not measured a frequency.
bool FlatRateRejected(absl::Span<const RungReading> readings, size_t chosen, const InvertOptions& options);

}  // namespace mempulse
