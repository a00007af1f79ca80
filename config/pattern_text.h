#pragma once

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace mempulse {

// OK for a POSIX extended regular expression that regcomp takes. Refused besides: back-references (a search
// may take exponential time), escapes of other dialects ("\d" would silently mean "d"), and expressions that
// regcomp would unfold into more than 5000 pieces or that nest deeper than 32 (its time and memory grow with
// the product of nested repeats). InvalidArgument with a sentence that goes after the key. Thread-safe.
absl::Status CheckPatternText(absl::string_view text);

}  // namespace mempulse
