#include "config/utf8_text.h"

#include <cstdint>

namespace mempulse {
namespace {

// Length of the well-formed character at `at`, 0 when there is none.
size_t CharacterLength(absl::string_view text, size_t at) {
  const auto byte = [text](size_t i) -> uint8_t {
    return i < text.size() ? static_cast<uint8_t>(text[i]) : 0;
  };
  const uint8_t lead = byte(at);
  if (lead < 0x80) return lead >= 0x20 && lead != 0x7F ? 1 : (lead == '\t' || lead == '\n' || lead == '\r');
  const size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4) return 0;
  // The second byte's range closes the overlong forms, the surrogates and what lies beyond U+10FFFF.
  const uint8_t low = lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;
  const uint8_t high = lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;
  if (byte(at + 1) < low || byte(at + 1) > high) return 0;
  for (size_t i = 2; i < length; ++i) {
    if ((byte(at + i) & 0xC0) != 0x80) return 0;
  }
  return length;
}

}  // namespace

size_t FindBadByte(absl::string_view text) {
  size_t at = 0;
  while (at < text.size()) {
    const size_t length = CharacterLength(text, at);
    if (length == 0) return at;
    at += length;
  }
  return at;
}

}  // namespace mempulse
