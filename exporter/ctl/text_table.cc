#include "exporter/ctl/text_table.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "config/utf8_text.h"

namespace mempulse {

std::string TextTable(const std::vector<std::vector<std::string>>& rows) {
  std::vector<size_t> widths;
  for (const std::vector<std::string>& row : rows) {
    widths.resize(std::max(widths.size(), row.size()), 0);
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string text;
  for (const std::vector<std::string>& row : rows) {
    for (size_t i = 0; i < row.size(); ++i) {
      absl::StrAppend(&text, row[i]);
      if (i + 1 < row.size()) text.append(widths[i] - row[i].size() + 2, ' ');
    }
    text.push_back('\n');
  }
  return text;
}

std::string FrequencyText(double hertz, bool floor) {
  if (!std::isfinite(hertz)) return "unbounded";
  const char* const prefix = floor ? "> " : "";
  if (hertz >= 1e6) return absl::StrFormat("%s%.3g MHz", prefix, hertz / 1e6);
  if (hertz >= 1e3) return absl::StrFormat("%s%.4g kHz", prefix, hertz / 1e3);
  return absl::StrFormat("%s%.3g Hz", prefix, hertz);
}

std::string PrintableText(const std::string& text, size_t most) {
  const std::string cut = text.substr(0, most);
  // absl's UTF-8 form passes every byte above 0x7f through, valid or not. A rune cut in two counts as not.
  const bool valid = FindBadByte(cut) == cut.size();
  std::string safe = valid ? absl::Utf8SafeCHexEscape(cut) : absl::CHexEscape(cut);
  if (text.size() > most) safe += "...";
  return safe;
}

std::string WindowText(double seconds) {
  const double micros = seconds * 1e6;
  if (micros >= 1e6) return absl::StrFormat("%.3gs", micros / 1e6);
  if (micros >= 1000) return absl::StrFormat("%.3gms", micros / 1000);
  return absl::StrFormat("%.3gus", micros);
}

}  // namespace mempulse
