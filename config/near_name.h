#pragma once

#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace mempulse {

// Damerau-Levenshtein distance in bytes: insert, delete, replace and swap of neighbours cost 1 each.
int EditDistance(absl::string_view a, absl::string_view b);

// The candidate that `word` most likely means, ignoring case and "-" for "_": the one at the least distance,
// first on a tie, when that is at most 1 + a quarter of the word's length and at most 3; else the first that
// begins with the word or that the word begins with (three bytes at least). Empty when none is near. Words
// over 64 bytes are near nothing.
std::string NearName(absl::string_view word, const std::vector<absl::string_view>& candidates);

// `; did you mean "windows"?`, or nothing when no candidate is near.
std::string NearNameHint(absl::string_view word, const std::vector<absl::string_view>& candidates);

}  // namespace mempulse
