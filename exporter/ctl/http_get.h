#pragma once

#include <string>

#include "absl/status/statusor.h"

namespace mempulse {

// Body of a plain-HTTP GET of `url` + `path`; `url` is http://HOST[:PORT] (IPv6 in brackets). At most 64 MiB.
// Unavailable names the address that did not answer; InvalidArgument: no such URL; Internal: another status
// than 200.
absl::StatusOr<std::string> HttpGet(const std::string& url, const std::string& path);

}  // namespace mempulse
