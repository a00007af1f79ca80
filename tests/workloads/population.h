#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace mempulse {

inline constexpr double kFlatOut = std::numeric_limits<double>::infinity();

// Pages that are all written at one rate.
struct Population {
  std::string name;
  double hertz = 0;  // per page; 0: written once at the start; kFlatOut: as fast as the processor goes
  uint64_t pages = 0;
  uint64_t first_page = 0;  // page index in the mapping, set by LayOut
};

// hot, 20khz, 800hz, warm (200 Hz), cool (5 Hz), 0.2hz and cold.
std::vector<Population> AllTiers();

// The tiers of a comma list ("warm,cool") in AllTiers' order. InvalidArgument names an unknown tier and the
// known ones.
absl::StatusOr<std::vector<Population>> ParseTiers(absl::string_view list);

// "800x2": 2 pages at 800 Hz. InvalidArgument else.
absl::StatusOr<Population> ParseExtra(absl::string_view text);

// Gives each population a run of pages of its own, on 64 KiB boundaries with at least one untouched page
// between two. Returns the number of pages of the whole mapping.
uint64_t LayOut(std::vector<Population>* populations);

}  // namespace mempulse
