#include "exporter/web/open_sockets.h"

#include <netdb.h>
#include <netinet/in.h>
#include <unistd.h>

#include <algorithm>
#include <functional>
#include <utility>

namespace mempulse {
namespace {

// Descriptors are given out from the lowest: behind a gap of this length there are none.
constexpr int kWidestGap = 512;

int PortOf(const sockaddr_storage& address) {
  if (address.ss_family == AF_INET) return ntohs(reinterpret_cast<const sockaddr_in&>(address).sin_port);
  if (address.ss_family == AF_INET6) return ntohs(reinterpret_cast<const sockaddr_in6&>(address).sin6_port);
  return -1;
}

// -1 when the descriptor is no bound TCP socket.
int LocalPort(int fd) {
  sockaddr_storage address = {};
  socklen_t length = sizeof(address);
  return getsockname(fd, reinterpret_cast<sockaddr*>(&address), &length) == 0 ? PortOf(address) : -1;
}

// Visits the sockets whose local port is one of `ports`.
void ForEachSocket(const std::vector<int>& ports, const std::function<void(int fd, int local_port)>& visit) {
  const long limit = sysconf(_SC_OPEN_MAX);
  for (int fd = 0, gap = 0; fd < limit && gap < kWidestGap; ++fd) {
    const int port = LocalPort(fd);
    gap = port < 0 ? gap + 1 : 0;
    if (std::find(ports.begin(), ports.end(), port) != ports.end()) visit(fd, port);
  }
}

}  // namespace

std::vector<OpenConnection> ListConnections(const std::vector<int>& local_ports) {
  std::vector<OpenConnection> found;
  ForEachSocket(local_ports, [&found](int fd, int local_port) {
    sockaddr_storage peer = {};
    socklen_t length = sizeof(peer);
    if (getpeername(fd, reinterpret_cast<sockaddr*>(&peer), &length) != 0) return;
    char text[NI_MAXHOST] = {};
    if (getnameinfo(reinterpret_cast<const sockaddr*>(&peer), length, text, sizeof(text), nullptr, 0,
                    NI_NUMERICHOST) != 0) {
      return;
    }
    found.push_back({text, PortOf(peer), local_port, fd});
  });
  return found;
}

std::vector<int> ListListeners(const std::vector<int>& local_ports) {
  std::vector<int> found;
  ForEachSocket(local_ports, [&found](int fd, int) {
    int accepts = 0;
    socklen_t length = sizeof(accepts);
    if (getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &accepts, &length) == 0 && accepts != 0)
      found.push_back(fd);
  });
  return found;
}

void ShutDownSocket(int fd, const std::string& last_words) {
  if (!last_words.empty()) (void)send(fd, last_words.data(), last_words.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
  shutdown(fd, SHUT_RDWR);
}

}  // namespace mempulse
