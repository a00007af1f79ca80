#include "config/quoted_text.h"

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"

namespace mempulse {
namespace {

constexpr size_t kMaxShownBytes = 64;

bool ContinuesCharacter(char byte) { return (static_cast<unsigned char>(byte) & 0xC0) == 0x80; }

}  // namespace

std::string QuotedText(absl::string_view text) {
  if (text.size() <= kMaxShownBytes) return absl::StrCat("\"", absl::Utf8SafeCEscape(text), "\"");
  size_t end = kMaxShownBytes;
  while (end > 0 && ContinuesCharacter(text[end])) --end;
  return absl::StrCat("\"", absl::Utf8SafeCEscape(text.substr(0, end)), "...\"");
}

}  // namespace mempulse
