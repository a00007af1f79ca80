#pragma once

#include <string>

#include "absl/strings/string_view.h"

namespace mempulse {

// One gzip member; the same bytes for the same text. Empty when zlib runs out of memory.
std::string GzipText(absl::string_view text);

}  // namespace mempulse
