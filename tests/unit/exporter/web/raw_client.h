#pragma once

#include <string>

namespace mempulse {

// A TCP connection to a loopback port that sends exactly the bytes it is told to. Closed on destruction.
class RawClient {
 public:
  // `from` is the local address: "127.0.0.1", "127.0.0.2", ... or "::1" for IPv6.
  explicit RawClient(int port, const std::string& from = "127.0.0.1");
  ~RawClient();
  RawClient(RawClient&& other) noexcept : fd_(other.fd_) { other.fd_ = -1; }
  RawClient(const RawClient&) = delete;
  RawClient& operator=(const RawClient&) = delete;

  bool connected() const { return fd_ >= 0; }
  bool Send(const std::string& bytes);
  // Until the peer closes, or a reply with Content-Length is whole, or `seconds` have passed.
  std::string Receive(double seconds = 5);
  // Did the peer close within that time? Drops what it sends.
  bool WaitForClose(double seconds);

 private:
  int fd_ = -1;
};

// One request on a connection of its own.
std::string Fetch(int port, const std::string& request, const std::string& from = "127.0.0.1");
std::string Get(int port, const std::string& path, const std::string& headers = "");

int StatusOf(const std::string& reply);  // -1: no reply
std::string HeaderOf(const std::string& reply, const std::string& name);
std::string BodyOf(const std::string& reply);

}  // namespace mempulse
