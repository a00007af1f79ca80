#include "exporter/web/listen_entries.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <unistd.h>

#include <algorithm>
#include <memory>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "config/listen_address.h"

namespace mempulse {
namespace {

bool HostHasIpv6() {
  const int fd = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return false;
  close(fd);
  return true;
}

std::string NumericHost(const addrinfo& address) {
  char text[INET6_ADDRSTRLEN] = {};
  if (address.ai_family == AF_INET) {
    inet_ntop(AF_INET, &reinterpret_cast<const sockaddr_in*>(address.ai_addr)->sin_addr, text, sizeof(text));
    return text;
  }
  inet_ntop(AF_INET6, &reinterpret_cast<const sockaddr_in6*>(address.ai_addr)->sin6_addr, text, sizeof(text));
  return absl::StrCat("[", text, "]");
}

absl::Status AddHost(const std::string& host, const std::string& port, const std::string& address,
                     std::vector<std::string>* entries) {
  addrinfo hints = {};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE;
  addrinfo* found = nullptr;
  const int error = getaddrinfo(host.c_str(), nullptr, &hints, &found);
  if (error != 0) {
    return absl::InvalidArgumentError(absl::StrCat("cannot listen on ", address, ": ", gai_strerror(error)));
  }
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> owner(found, &freeaddrinfo);
  for (const addrinfo* at = found; at != nullptr; at = at->ai_next) {
    if (at->ai_family != AF_INET && at->ai_family != AF_INET6) continue;
    std::string entry = absl::StrCat(NumericHost(*at), ":", port);
    if (std::find(entries->begin(), entries->end(), entry) == entries->end())
      entries->push_back(std::move(entry));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::vector<std::string>> ListenEntries(absl::Span<const std::string> addresses) {
  std::vector<std::string> entries;
  for (const std::string& address : addresses) {
    const absl::Status form = CheckListenAddress(address);
    if (!form.ok()) {
      return absl::InvalidArgumentError(absl::StrCat("cannot listen on ", address, ": ", form.message()));
    }
    const size_t colon = address.rfind(':');
    const std::string port = address.substr(colon + 1);
    std::string host = address.substr(0, colon);
    if (host.empty()) {
      entries.push_back(HostHasIpv6() ? absl::StrCat("+", port) : port);
      continue;
    }
    if (host.front() == '[') host = host.substr(1, host.size() - 2);
    const absl::Status added = AddHost(host, port, address, &entries);
    if (!added.ok()) return added;
  }
  if (entries.empty()) return absl::InvalidArgumentError("no address to listen on");
  return entries;
}

}  // namespace mempulse
