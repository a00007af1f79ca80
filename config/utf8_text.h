#pragma once

#include <cstddef>

#include "absl/strings/string_view.h"

namespace mempulse {

// Offset of the first byte that is not part of well-formed UTF-8 (RFC 3629: no overlong forms, no surrogates)
// or is a control character other than tab, line feed and carriage return; text.size() when there is none.
size_t FindBadByte(absl::string_view text);

}  // namespace mempulse
