#include "exporter/web/listen_sockets.h"

#include <netdb.h>
#include <netinet/in.h>

#include <memory>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "collectors/host/errno_status.h"
#include "config/listen_address.h"

namespace mempulse {
namespace {

constexpr int kBacklog = 512;

int PortOf(int fd) {
  sockaddr_storage bound = {};
  socklen_t length = sizeof(bound);
  if (getsockname(fd, reinterpret_cast<sockaddr*>(&bound), &length) != 0) return 0;
  return ntohs(bound.ss_family == AF_INET6 ? reinterpret_cast<const sockaddr_in6&>(bound).sin6_port
                                           : reinterpret_cast<const sockaddr_in&>(bound).sin_port);
}

absl::Status Unavailable(const std::string& address, const absl::Status& why) {
  return absl::UnavailableError(absl::StrCat("cannot listen on ", address, ": ", why.message()));
}

absl::StatusOr<ListenSocket> OpenOne(const sockaddr* where, socklen_t length, bool both_families,
                                     const std::string& address) {
  ListenSocket listener;
  listener.fd = UniqueFd(socket(where->sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (listener.fd.get() < 0) return Unavailable(address, ErrnoStatus("socket", address));
  const int on = 1;
  const int only_ipv6 = both_families ? 0 : 1;
  setsockopt(listener.fd.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
  if (where->sa_family == AF_INET6) {
    setsockopt(listener.fd.get(), IPPROTO_IPV6, IPV6_V6ONLY, &only_ipv6, sizeof(only_ipv6));
  }
  if (bind(listener.fd.get(), where, length) != 0) return Unavailable(address, ErrnoStatus("bind", address));
  if (listen(listener.fd.get(), kBacklog) != 0) return Unavailable(address, ErrnoStatus("listen", address));
  listener.port = PortOf(listener.fd.get());
  return listener;
}

bool HostHasIpv6() { return UniqueFd(socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0)).get() >= 0; }

absl::StatusOr<ListenSocket> OpenEverywhere(uint16_t port, const std::string& address) {
  if (HostHasIpv6()) {
    sockaddr_in6 any = {};
    any.sin6_family = AF_INET6;
    any.sin6_addr = in6addr_any;
    any.sin6_port = htons(port);
    return OpenOne(reinterpret_cast<const sockaddr*>(&any), sizeof(any), /*both_families=*/true, address);
  }
  sockaddr_in any = {};
  any.sin_family = AF_INET;
  any.sin_port = htons(port);
  return OpenOne(reinterpret_cast<const sockaddr*>(&any), sizeof(any), /*both_families=*/false, address);
}

absl::Status OpenHost(const std::string& host, const std::string& port, const std::string& address,
                      std::vector<ListenSocket>* listeners) {
  addrinfo hints = {};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
  addrinfo* found = nullptr;
  const int error = getaddrinfo(host.c_str(), port.c_str(), &hints, &found);
  if (error != 0) {
    return absl::InvalidArgumentError(absl::StrCat("cannot listen on ", address, ": ", gai_strerror(error)));
  }
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> owner(found, &freeaddrinfo);
  for (const addrinfo* at = found; at != nullptr; at = at->ai_next) {
    absl::StatusOr<ListenSocket> listener =
        OpenOne(at->ai_addr, at->ai_addrlen, /*both_families=*/false, address);
    if (!listener.ok()) return listener.status();
    listeners->push_back(*std::move(listener));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::vector<ListenSocket>> OpenListenSockets(absl::Span<const std::string> addresses) {
  std::vector<ListenSocket> listeners;
  for (const std::string& address : addresses) {
    const absl::Status form = CheckListenAddress(address);
    if (!form.ok()) {
      return absl::InvalidArgumentError(absl::StrCat("cannot listen on ", address, ": ", form.message()));
    }
    const size_t colon = address.rfind(':');
    const std::string port = address.substr(colon + 1);
    std::string host = address.substr(0, colon);
    if (host.empty()) {
      absl::StatusOr<ListenSocket> listener = OpenEverywhere(static_cast<uint16_t>(std::stoi(port)), address);
      if (!listener.ok()) return listener.status();
      listeners.push_back(*std::move(listener));
      continue;
    }
    if (host.front() == '[') host = host.substr(1, host.size() - 2);
    const absl::Status opened = OpenHost(host, port, address, &listeners);
    if (!opened.ok()) return opened;
  }
  if (listeners.empty()) return absl::InvalidArgumentError("no address to listen on");
  return listeners;
}

}  // namespace mempulse
