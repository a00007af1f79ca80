#include "exporter/web/request_head.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"

namespace mempulse {
namespace {

RequestHead Bad(int status, const char* reason) {
  RequestHead head;
  head.state = RequestHead::kBad;
  head.status = status;
  head.reason = reason;
  return head;
}

bool IsToken(absl::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](unsigned char c) {
    return absl::ascii_isalnum(c) ||
           absl::string_view("!#$%&'*+-.^_`|~").find(static_cast<char>(c)) != absl::string_view::npos;
  });
}

bool HasControl(absl::string_view text) {
  return std::any_of(text.begin(), text.end(),
                     [](unsigned char c) { return (c < 0x20 && c != '\t') || c == 0x7F; });
}

// "METHOD /path?query HTTP/1.1". An absolute target keeps its path only.
RequestHead ParseRequestLine(absl::string_view line) {
  const std::vector<absl::string_view> words = absl::StrSplit(line, ' ');
  if (words.size() != 3 || !IsToken(words[0])) return Bad(400, "malformed request line");
  if (!absl::StartsWith(words[2], "HTTP/")) return Bad(400, "malformed request line");
  if (words[2] != "HTTP/1.1" && words[2] != "HTTP/1.0")
    return Bad(505, "HTTP/1.0 and HTTP/1.1 are spoken here");
  absl::string_view target = words[1];
  if (absl::ConsumePrefix(&target, "http://")) {
    const size_t slash = target.find('/');
    target = slash == absl::string_view::npos ? "/" : target.substr(slash);
  }
  if (!absl::StartsWith(target, "/") && target != "*") return Bad(400, "malformed target");
  RequestHead head;
  head.keep_alive = words[2] == "HTTP/1.1";
  head.request.method = std::string(words[0]);
  head.request.path = std::string(target.substr(0, target.find('?')));
  const size_t query = target.find('?');
  if (query != absl::string_view::npos) head.request.query = std::string(target.substr(query + 1));
  return head;
}

// Null, or what is wrong.
const char* ApplyHeader(absl::string_view name, absl::string_view value, bool* has_length, bool* has_host,
                        RequestHead* head) {
  if (absl::EqualsIgnoreCase(name, "host")) {
    if (*has_host) return "two hosts";
    *has_host = true;
  } else if (absl::EqualsIgnoreCase(name, "content-length")) {
    uint64_t length = 0;
    const bool digits = !value.empty() && std::all_of(value.begin(), value.end(), absl::ascii_isdigit);
    if (*has_length || !digits || !absl::SimpleAtoi(value, &length)) return "malformed Content-Length";
    *has_length = true;
    head->has_body |= length > 0;
  } else if (absl::EqualsIgnoreCase(name, "transfer-encoding")) {
    head->has_body = true;
  } else if (absl::EqualsIgnoreCase(name, "connection")) {
    const std::string options = absl::AsciiStrToLower(value);
    if (absl::StrContains(options, "close")) {
      head->keep_alive = false;
    } else if (absl::StrContains(options, "keep-alive")) {
      head->keep_alive = true;
    }
  } else if (absl::EqualsIgnoreCase(name, "accept-encoding")) {
    std::string& all = head->request.accept_encoding;
    all += all.empty() ? "" : ",";
    all.append(value.data(), value.size());
  }
  return nullptr;
}

RequestHead ParseWhole(absl::string_view text) {
  const std::vector<absl::string_view> lines = absl::StrSplit(text, "\r\n");
  for (const absl::string_view line : lines) {
    if (HasControl(line)) return Bad(400, "control character in the head");
  }
  if (lines.size() > kMostHeaders + 1) return Bad(413, "too many headers");
  RequestHead head = ParseRequestLine(lines[0]);
  const bool http_1_1 = head.keep_alive;
  bool has_length = false;
  bool has_host = false;
  for (size_t i = 1; i < lines.size() && head.state != RequestHead::kBad; ++i) {
    const size_t colon = lines[i].find(':');
    if (colon == absl::string_view::npos || !IsToken(lines[i].substr(0, colon)))
      return Bad(400, "malformed header");
    const char* wrong =
        ApplyHeader(lines[i].substr(0, colon), absl::StripAsciiWhitespace(lines[i].substr(colon + 1)),
                    &has_length, &has_host, &head);
    if (wrong != nullptr) return Bad(400, wrong);
  }
  if (head.state == RequestHead::kBad) return head;
  if (http_1_1 && !has_host) return Bad(400, "HTTP/1.1 without Host");
  head.state = RequestHead::kWhole;
  return head;
}

}  // namespace

RequestHead ParseRequestHead(absl::string_view arrived) {
  const size_t end = arrived.substr(0, kMostHeadBytes).find("\r\n\r\n");
  if (end == absl::string_view::npos) {
    return arrived.size() >= kMostHeadBytes ? Bad(413, "the head is too large") : RequestHead();
  }
  RequestHead head = ParseWhole(arrived.substr(0, end));
  head.bytes = end + 4;
  return head;
}

}  // namespace mempulse
