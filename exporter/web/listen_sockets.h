#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "collectors/host/unique_fd.h"

namespace mempulse {

struct ListenSocket {
  UniqueFd fd;  // bound, listening, non-blocking
  int port = 0;
};

// Opens every listen address (see WebOptions): ":PORT" is one socket for both families (IPv4 alone on a host
// without IPv6), a name is each of its addresses. InvalidArgument names the address that is wrong or does not
// resolve, Unavailable the one that cannot be bound; nothing stays open then.
absl::StatusOr<std::vector<ListenSocket>> OpenListenSockets(absl::Span<const std::string> addresses);

}  // namespace mempulse
