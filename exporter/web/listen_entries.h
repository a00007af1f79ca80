#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"

namespace mempulse {

// Listen addresses (see WebOptions) in civetweb's form, names resolved: ":9834" becomes "+9834", one socket
// of both families, or "9834" on a host without IPv6. InvalidArgument names the address that is wrong or does
// not resolve.
absl::StatusOr<std::vector<std::string>> ListenEntries(absl::Span<const std::string> addresses);

}  // namespace mempulse
