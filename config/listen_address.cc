#include "config/listen_address.h"

#include <arpa/inet.h>

#include <algorithm>
#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "config/quoted_text.h"

namespace mempulse {
namespace {

absl::Status Refused(absl::string_view text, absl::string_view reason) {
  return absl::InvalidArgumentError(absl::StrCat(QuotedText(text), " is no listen address: ", reason));
}

bool IsIp(int family, absl::string_view host) {
  in6_addr address;
  return inet_pton(family, std::string(host).c_str(), &address) == 1;
}

bool IsDigits(absl::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), absl::ascii_isdigit);
}

bool IsHostName(absl::string_view host) {
  if (host.size() > 253 || absl::StartsWith(host, ".") || absl::StartsWith(host, "-")) return false;
  return std::all_of(host.begin(), host.end(),
                     [](char byte) { return absl::ascii_isalnum(byte) || byte == '.' || byte == '-'; });
}

absl::Status CheckHost(absl::string_view text, absl::string_view host) {
  if (host.empty()) return absl::OkStatus();
  if (absl::StartsWith(host, "[")) {
    const bool closed = host.size() > 2 && absl::EndsWith(host, "]");
    if (closed && IsIp(AF_INET6, host.substr(1, host.size() - 2))) return absl::OkStatus();
    return Refused(text, "no IPv6 address in the brackets");
  }
  if (absl::StrContains(host, ":")) return Refused(text, "put an IPv6 address in brackets, e.g. [::1]:9834");
  if (IsIp(AF_INET, host)) return absl::OkStatus();
  // A name that ends in a number can only be a mistyped IPv4 address.
  const absl::string_view last = host.substr(host.rfind('.') + 1);
  if (IsDigits(last)) return Refused(text, "no IPv4 address");
  return IsHostName(host) ? absl::OkStatus() : Refused(text, "no host name");
}

}  // namespace

absl::Status CheckListenAddress(absl::string_view text) {
  const size_t colon = text.rfind(':');
  if (colon == absl::string_view::npos) {
    return Refused(text, absl::StrCat("the port is missing, e.g. ",
                                      IsHostName(text) && !IsDigits(text) ? text : "", ":9834"));
  }
  const absl::string_view port = text.substr(colon + 1);
  int number = 0;
  if (IsIp(AF_INET6, text)) return Refused(text, "put an IPv6 address in brackets, e.g. [::1]:9834");
  if (!IsDigits(port) || port.size() > 5 || !absl::SimpleAtoi(port, &number) || number > 65535) {
    return Refused(text, "the port must be 0 to 65535");
  }
  return CheckHost(text, text.substr(0, colon));
}

}  // namespace mempulse
