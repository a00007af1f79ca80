#pragma once

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace mempulse {

// OK for HOST:PORT (a name or an IPv4 address), [V6]:PORT and :PORT (all addresses of both families), port
// 0-65535 (0: any free port). InvalidArgument with a sentence that says what to write. Resolves nothing.
absl::Status CheckListenAddress(absl::string_view text);

}  // namespace mempulse
