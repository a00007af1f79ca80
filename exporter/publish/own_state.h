#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "collectors/host/host.h"

// What the exporter says about itself, as plain values: the part of a snapshot that no round report holds.
namespace mempulse {

// This process as /proc/self tells it.
struct ProcessUsage {
  double cpu_seconds = 0;  // user and system since the start
  uint64_t resident_bytes = 0;
  uint64_t virtual_bytes = 0;
  uint64_t open_fds = 0;
  uint64_t max_fds = 0;           // soft limit; UINT64_MAX when unlimited
  double start_time_seconds = 0;  // since 1970
  uint64_t threads = 0;
};

// Reads host.procfs()/self. Fails as Host does, Internal when a file does not parse.
absl::StatusOr<ProcessUsage> ReadProcessUsage(const Host& host);

// Why a connection was turned away or cut.
enum class ConnectionRefusal { kAddressLimit, kOverdue };
inline constexpr std::array<ConnectionRefusal, 2> kAllConnectionRefusals = {ConnectionRefusal::kAddressLimit,
                                                                            ConnectionRefusal::kOverdue};
const char* ConnectionRefusalName(ConnectionRefusal refusal);  // "address_limit", "overdue"

// Cumulative since the server started.
struct HttpCounts {
  std::map<std::pair<std::string, int>, uint64_t>
      requests;  // by handler ("metrics", "healthy", ...) and status
  std::array<uint64_t, kAllConnectionRefusals.size()> refused{};  // in the order of kAllConnectionRefusals
};

// Userfaultfds that targets have handed over by themselves.
struct OfferCounts {
  std::map<std::string, uint64_t> results;  // connections since the start; every result is there
  uint64_t held = 0;
};

struct OwnState {
  std::optional<ProcessUsage> process;  // absent: could not be read, or not wanted
  HttpCounts http;
  std::optional<OfferCounts> offers;  // absent: nobody listens for any
};

}  // namespace mempulse
