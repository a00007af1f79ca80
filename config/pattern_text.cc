#include "config/pattern_text.h"

#include <regex.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "config/quoted_text.h"

namespace mempulse {
namespace {

constexpr int64_t kMaxPieces = 5000;
constexpr size_t kMaxDepth = 32;

absl::Status Refused(absl::string_view text, absl::string_view reason) {
  return absl::InvalidArgumentError(absl::StrCat(QuotedText(text), " ", reason));
}

// Offset behind the bracket expression that opens at `at`; "]" in first place is literal, "[:x:]" is skipped.
size_t BehindBrackets(absl::string_view text, size_t at) {
  size_t end = at + 1;
  if (end < text.size() && text[end] == '^') ++end;
  if (end < text.size() && text[end] == ']') ++end;
  while (end < text.size() && text[end] != ']') {
    const bool is_class = absl::StartsWith(text.substr(end), "[:");
    const size_t closed = is_class ? text.find(":]", end + 2) : absl::string_view::npos;
    end = closed == absl::string_view::npos ? end + 1 : closed + 2;
  }
  return std::min(end + 1, text.size());
}

// Counts the pieces that the repeats of an expression unfold into, as one walks through it.
class PieceCount {
 public:
  void Atom() {
    groups_.back().sum += 1;
    groups_.back().last = 1;
  }
  void Open() { groups_.emplace_back(); }
  void Close() {
    if (groups_.size() == 1) return;  // regcomp judges this
    const int64_t size = std::max<int64_t>(groups_.back().sum, 1);
    groups_.pop_back();
    groups_.back().sum = std::min(groups_.back().sum + size, kMaxPieces + 1);
    groups_.back().last = size;
  }
  void Repeat(int64_t times) {
    Group& group = groups_.back();
    const int64_t unfolded = std::min(group.last * std::max<int64_t>(times, 1), kMaxPieces + 1);
    group.sum = std::min(group.sum + unfolded - group.last, kMaxPieces + 1);
    group.last = unfolded;
  }
  bool TooMany() const { return groups_.size() > kMaxDepth || groups_.back().sum > kMaxPieces; }

 private:
  struct Group {
    int64_t sum = 0;
    int64_t last = 0;
  };
  std::vector<Group> groups_ = std::vector<Group>(1);
};

// How often "{m,n}" copies, one more than its larger bound; `bounds` is what stands between the braces.
int64_t LargestBound(absl::string_view bounds) {
  int64_t largest = 0;
  int64_t number = 0;
  for (const char byte : bounds) {
    number = absl::ascii_isdigit(byte) ? std::min(number * 10 + (byte - '0'), kMaxPieces) : 0;
    largest = std::max(largest, number);
  }
  return largest + 1;
}

bool IsTooLarge(absl::string_view text) {
  PieceCount pieces;
  size_t at = 0;
  while (at < text.size() && !pieces.TooMany()) {
    const char byte = text[at];
    if (byte == '[') {
      pieces.Atom();
      at = BehindBrackets(text, at);
      continue;
    }
    if (byte == '{') {
      const size_t close = std::min(text.find('}', at), text.size() - 1);
      pieces.Repeat(LargestBound(text.substr(at + 1, close - at - 1)));
      at = close + 1;
      continue;
    }
    if (byte == '(') pieces.Open();
    if (byte == ')') pieces.Close();
    if (byte == '+') pieces.Repeat(2);
    if (!absl::StrContains("()*+?|", text.substr(at, 1))) pieces.Atom();
    at += byte == '\\' ? 2 : 1;
  }
  return pieces.TooMany();
}

// The first escape that is a letter or digit without a meaning of its own here; empty when there is none.
absl::string_view ForeignEscape(absl::string_view text) {
  size_t at = 0;
  while (at + 1 < text.size()) {
    if (text[at] == '[') {
      at = BehindBrackets(text, at);
    } else if (text[at] != '\\') {
      ++at;
    } else if (absl::ascii_isalnum(text[at + 1]) && !absl::StrContains("wWsSbB", text.substr(at + 1, 1))) {
      return text.substr(at, 2);
    } else {
      at += 2;
    }
  }
  return "";
}

}  // namespace

absl::Status CheckPatternText(absl::string_view text) {
  if (const absl::string_view escape = ForeignEscape(text); !escape.empty()) {
    const bool reference = absl::ascii_isdigit(escape[1]);
    return Refused(
        text,
        absl::StrCat("holds ", escape, ", ",
                     reference ? "a back-reference, which is not taken"
                               : "which POSIX extended expressions do not know; write [0-9] or the like"));
  }
  if (IsTooLarge(text)) return Refused(text, "is too large a regular expression");
  regex_t compiled;
  const int error = regcomp(&compiled, std::string(text).c_str(), REG_EXTENDED | REG_NOSUB);
  if (error == 0) {
    regfree(&compiled);
    return absl::OkStatus();
  }
  std::array<char, 128> reason{};
  regerror(error, &compiled, reason.data(), reason.size());
  return Refused(text, absl::StrCat("is no regular expression: ", reason.data()));
}

}  // namespace mempulse
