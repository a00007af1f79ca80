#include "exporter/ctl/http_get.h"

#include <civetweb.h>

#include <array>
#include <memory>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"

namespace mempulse {
namespace {

constexpr size_t kMostBytes = 64 << 20;
constexpr int kDefaultPort = 80;

struct Address {
  std::string host;
  int port = kDefaultPort;
};

absl::StatusOr<Address> ParseUrl(const std::string& url) {
  absl::string_view rest = url;
  if (!absl::ConsumePrefix(&rest, "http://")) {
    return absl::InvalidArgumentError(
        absl::StrCat("\"", url, "\" is no plain-HTTP URL such as http://127.0.0.1:9834"));
  }
  absl::ConsumeSuffix(&rest, "/");
  Address address;
  const size_t bracket = rest.rfind(']');
  const size_t colon = rest.rfind(':');
  if (colon != absl::string_view::npos && (bracket == absl::string_view::npos || colon > bracket)) {
    if (!absl::SimpleAtoi(rest.substr(colon + 1), &address.port)) {
      return absl::InvalidArgumentError(absl::StrCat("\"", url, "\" has no port number after the colon"));
    }
    rest = rest.substr(0, colon);
  }
  absl::ConsumePrefix(&rest, "[");
  absl::ConsumeSuffix(&rest, "]");
  address.host = std::string(rest);
  return address;
}

struct Close {
  void operator()(mg_connection* connection) const { mg_close_connection(connection); }
};

}  // namespace

absl::StatusOr<std::string> HttpGet(const std::string& url, const std::string& path) {
  const absl::StatusOr<Address> address = ParseUrl(url);
  if (!address.ok()) return address.status();
  std::array<char, 256> error{};
  const std::unique_ptr<mg_connection, Close> connection(mg_download(
      address->host.c_str(), address->port, 0, error.data(), error.size(),
      "GET %s HTTP/1.0\r\nHost: %s\r\nConnection: close\r\n\r\n", path.c_str(), address->host.c_str()));
  if (connection == nullptr) {
    return absl::UnavailableError(absl::StrCat("nothing answers at ", url, " (", error.data(), ")"));
  }
  const mg_response_info* const info = mg_get_response_info(connection.get());
  std::string body;
  std::array<char, 65536> block;
  while (body.size() < kMostBytes) {
    const int got = mg_read(connection.get(), block.data(), block.size());
    if (got <= 0) break;
    body.append(block.data(), static_cast<size_t>(got));
  }
  if (info->status_code != 200) {
    return absl::InternalError(
        absl::StrCat(url, path, " answered ", info->status_code, ": ", body.substr(0, 500)));
  }
  return body;
}

}  // namespace mempulse
