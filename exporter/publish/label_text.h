#pragma once

#include <cstddef>
#include <string>

#include "absl/strings/string_view.h"

namespace mempulse {

inline constexpr size_t kLabelBytes = 128;

// Well-formed UTF-8 on one line: each bad byte and each control character becomes U+FFFD.
std::string RepairText(absl::string_view text);

// What a label may hold: repaired, and a value of more than kLabelBytes cut between characters, with "~" and
// 8 hex digits of a hash over the whole original at its end, so that different long values stay different.
std::string LabelValue(absl::string_view text);

// First `digits` (at most 16) hex digits of a hash. Stable across versions and machines.
std::string HashDigits(absl::string_view text, size_t digits);

}  // namespace mempulse
