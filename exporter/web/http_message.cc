#include "exporter/web/http_message.h"

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"

namespace mempulse {
namespace {

const char* ReasonPhrase(int status) {
  switch (status) {
    case 200:
      return "OK";
    case 400:
      return "Bad Request";
    case 403:
      return "Forbidden";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 413:
      return "Content Too Large";
    case 500:
      return "Internal Server Error";
    case 503:
      return "Service Unavailable";
    case 505:
      return "HTTP Version Not Supported";
    default:
      return "Status";
  }
}

// The quality of one entry of Accept-Encoding; an unreadable one counts as 0.
double Quality(absl::string_view parameters) {
  for (absl::string_view parameter : absl::StrSplit(parameters, ';')) {
    parameter = absl::StripAsciiWhitespace(parameter);
    if (!absl::ConsumePrefix(&parameter, "q=") && !absl::ConsumePrefix(&parameter, "Q=")) continue;
    double quality = 0;
    return absl::SimpleAtod(parameter, &quality) ? quality : 0;
  }
  return 1;
}

int HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  c = absl::ascii_tolower(static_cast<unsigned char>(c));
  return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

bool PercentDecode(absl::string_view text, std::string* out) {
  out->clear();
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      out->push_back(text[i] == '+' ? ' ' : text[i]);
      continue;
    }
    const int high = i + 2 < text.size() ? HexDigit(text[i + 1]) : -1;
    const int low = i + 2 < text.size() ? HexDigit(text[i + 2]) : -1;
    if (high < 0 || low < 0) return false;
    out->push_back(static_cast<char>(high * 16 + low));
    i += 2;
  }
  return true;
}

}  // namespace

HttpReply TextReply(int status, std::string body) {
  HttpReply reply;
  reply.status = status;
  if (!absl::EndsWith(body, "\n")) body += "\n";
  reply.body = std::make_shared<const std::string>(std::move(body));
  return reply;
}

std::string RenderHead(const HttpReply& reply, bool keep_alive) {
  std::string head =
      absl::StrCat("HTTP/1.1 ", reply.status, " ", ReasonPhrase(reply.status),
                   "\r\nContent-Type: ", reply.content_type, "\r\nContent-Length: ", reply.body->size(),
                   "\r\nCache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\nConnection: ",
                   keep_alive ? "keep-alive" : "close", "\r\n");
  for (const auto& [name, value] : reply.headers) absl::StrAppend(&head, name, ": ", value, "\r\n");
  return head + "\r\n";
}

bool AcceptsGzip(absl::string_view accept_encoding) {
  double any = 0;
  for (const absl::string_view entry : absl::StrSplit(accept_encoding, ',')) {
    const std::pair<absl::string_view, absl::string_view> parts =
        absl::StrSplit(entry, absl::MaxSplits(';', 1));
    const absl::string_view coding = absl::StripAsciiWhitespace(parts.first);
    if (absl::EqualsIgnoreCase(coding, "gzip") || absl::EqualsIgnoreCase(coding, "x-gzip")) {
      return Quality(parts.second) > 0;
    }
    if (coding == "*") any = Quality(parts.second);
  }
  return any > 0;
}

absl::StatusOr<Selection> ParseSelection(absl::string_view query) {
  constexpr size_t kMostNames = 64;
  Selection selection;
  for (const absl::string_view pair : absl::StrSplit(query, '&', absl::SkipEmpty())) {
    const std::pair<absl::string_view, absl::string_view> parts =
        absl::StrSplit(pair, absl::MaxSplits('=', 1));
    std::string key;
    std::string value;
    if (!PercentDecode(parts.first, &key) || !PercentDecode(parts.second, &value)) {
      return absl::InvalidArgumentError("the query has a broken percent escape");
    }
    if (key == "collect[]") {
      selection.collect.push_back(std::move(value));
    } else if (key == "exclude[]") {
      selection.exclude.push_back(std::move(value));
    }
  }
  if (!selection.collect.empty() && !selection.exclude.empty()) {
    return absl::InvalidArgumentError("collect[] and exclude[] do not go together");
  }
  if (selection.collect.size() + selection.exclude.size() > kMostNames) {
    return absl::InvalidArgumentError("more than 64 groups named");
  }
  return selection;
}

std::string EscapeHtml(absl::string_view text) {
  return absl::StrReplaceAll(
      text, {{"&", "&amp;"}, {"<", "&lt;"}, {">", "&gt;"}, {"\"", "&quot;"}, {"'", "&#39;"}});
}

}  // namespace mempulse
