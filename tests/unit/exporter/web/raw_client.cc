#include "tests/unit/exporter/web/raw_client.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace mempulse {
namespace {

using Clock = std::chrono::steady_clock;

int ConnectIpv4(int port, const std::string& from) {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  inet_pton(AF_INET, from.c_str(), &address.sin_addr);
  if (bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0) {
    inet_pton(AF_INET, "127.0.0.1", &address.sin_addr);
    address.sin_port = htons(static_cast<uint16_t>(port));
    if (connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0) return fd;
  }
  close(fd);
  return -1;
}

int ConnectIpv6(int port) {
  const int fd = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return -1;
  sockaddr_in6 address = {};
  address.sin6_family = AF_INET6;
  address.sin6_addr = in6addr_loopback;
  address.sin6_port = htons(static_cast<uint16_t>(port));
  if (connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0) return fd;
  close(fd);
  return -1;
}

bool WaitReadable(int fd, Clock::time_point deadline) {
  const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now());
  if (left.count() <= 0) return false;
  pollfd wait = {fd, POLLIN, 0};
  return poll(&wait, 1, static_cast<int>(left.count())) > 0;
}

bool IsWhole(const std::string& reply) {
  const size_t head = reply.find("\r\n\r\n");
  size_t length = 0;
  if (head == std::string::npos || !absl::SimpleAtoi(HeaderOf(reply, "Content-Length"), &length))
    return false;
  return reply.size() >= head + 4 + length;
}

Clock::time_point After(double seconds) {
  return Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
}

}  // namespace

RawClient::RawClient(int port, const std::string& from)
    : fd_(from == "::1" ? ConnectIpv6(port) : ConnectIpv4(port, from)) {}

RawClient::~RawClient() {
  if (fd_ >= 0) close(fd_);
}

bool RawClient::Send(const std::string& bytes) {
  return send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(bytes.size());
}

std::string RawClient::Receive(double seconds) {
  std::string reply;
  char chunk[16384];
  const Clock::time_point deadline = After(seconds);
  while (!IsWhole(reply) && WaitReadable(fd_, deadline)) {
    const ssize_t got = recv(fd_, chunk, sizeof(chunk), 0);
    if (got <= 0) break;
    reply.append(chunk, static_cast<size_t>(got));
  }
  return reply;
}

bool RawClient::WaitForClose(double seconds) {
  char chunk[16384];
  const Clock::time_point deadline = After(seconds);
  while (WaitReadable(fd_, deadline)) {
    if (recv(fd_, chunk, sizeof(chunk), 0) <= 0) return true;
  }
  return false;
}

std::string Fetch(int port, const std::string& request, const std::string& from) {
  RawClient client(port, from);
  if (!client.connected() || !client.Send(request)) return "";
  return client.Receive();
}

std::string Get(int port, const std::string& path, const std::string& headers) {
  return Fetch(port,
               absl::StrCat("GET ", path, " HTTP/1.1\r\nHost: x\r\nConnection: close\r\n", headers, "\r\n"));
}

int StatusOf(const std::string& reply) {
  int status = -1;
  return reply.size() > 12 && absl::SimpleAtoi(reply.substr(9, 3), &status) ? status : -1;
}

std::string HeaderOf(const std::string& reply, const std::string& name) {
  for (const std::string& line :
       std::vector<std::string>(absl::StrSplit(reply.substr(0, reply.find("\r\n\r\n")), "\r\n"))) {
    const std::pair<std::string, std::string> parts = absl::StrSplit(line, absl::MaxSplits(": ", 1));
    if (absl::AsciiStrToLower(parts.first) == absl::AsciiStrToLower(name)) return parts.second;
  }
  return "";
}

std::string BodyOf(const std::string& reply) {
  const size_t head = reply.find("\r\n\r\n");
  return head == std::string::npos ? "" : reply.substr(head + 4);
}

}  // namespace mempulse
