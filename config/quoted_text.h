#pragma once

#include <string>

#include "absl/strings/string_view.h"

namespace mempulse {

// A word of the file as an error shows it: in double quotes, on one line, control characters escaped, at most
// 64 bytes of it (cut between characters, then "...").
std::string QuotedText(absl::string_view text);

}  // namespace mempulse
