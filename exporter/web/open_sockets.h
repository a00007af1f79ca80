#pragma once

#include <string>
#include <vector>

// civetweb tells neither the descriptor of a connection nor, before a request is complete, who is at its
// other end. The kernel does: these look through this process's descriptors, a few microseconds for each
// hundred. Thread-safe.
namespace mempulse {

// One TCP connection of this process.
struct OpenConnection {
  std::string address;  // of the peer, numeric
  int port = 0;         // of the peer
  int local_port = 0;
  int fd = -1;
};

// Connections to one of the local ports, by descriptor. A listed descriptor stays valid only while its owner
// keeps it.
std::vector<OpenConnection> ListConnections(const std::vector<int>& local_ports);

// Sockets that accept connections on one of the ports.
std::vector<int> ListListeners(const std::vector<int>& local_ports);

// Both directions, without waiting: whoever reads or writes the socket sees its end at once. Sends
// `last_words` before, as far as they fit.
void ShutDownSocket(int fd, const std::string& last_words);

}  // namespace mempulse
