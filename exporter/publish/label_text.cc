#include "exporter/publish/label_text.h"

#include <xxhash.h>

#include "absl/strings/str_cat.h"
#include "config/utf8_text.h"

namespace mempulse {
namespace {

constexpr absl::string_view kReplacement = "\xEF\xBF\xBD";

bool IsLineControl(char c) { return c == '\n' || c == '\r' || c == '\t'; }

}  // namespace

std::string RepairText(absl::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const size_t good = FindBadByte(text);
    for (const char c : text.substr(0, good)) {
      if (IsLineControl(c)) {
        out.append(kReplacement.data(), kReplacement.size());
      } else {
        out.push_back(c);
      }
    }
    if (good < text.size()) out.append(kReplacement.data(), kReplacement.size());
    text.remove_prefix(good < text.size() ? good + 1 : good);
  }
  return out;
}

std::string LabelValue(absl::string_view text) {
  std::string value = RepairText(text);
  if (value.size() <= kLabelBytes) return value;
  const std::string suffix = absl::StrCat("~", HashDigits(text, 8));
  size_t cut = kLabelBytes - suffix.size();
  while (cut > 0 && (static_cast<unsigned char>(value[cut]) & 0xC0) == 0x80) --cut;
  value.resize(cut);
  return value + suffix;
}

std::string HashDigits(absl::string_view text, size_t digits) {
  const XXH64_hash_t hash = XXH64(text.data(), text.size(), 0);
  return absl::StrCat(absl::Hex(hash, absl::kZeroPad16)).substr(0, digits);
}

}  // namespace mempulse
