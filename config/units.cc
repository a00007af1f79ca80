#include "config/units.h"

#include <array>
#include <limits>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "config/quoted_text.h"

namespace mempulse {
namespace {

using UnitLength = std::pair<absl::string_view, absl::Duration>;

const std::array<UnitLength, 6>& DurationUnits() {
  static const std::array<UnitLength, 6> units = {{{"h", absl::Hours(1)},
                                                   {"m", absl::Minutes(1)},
                                                   {"s", absl::Seconds(1)},
                                                   {"ms", absl::Milliseconds(1)},
                                                   {"us", absl::Microseconds(1)},
                                                   {"ns", absl::Nanoseconds(1)}}};
  return units;
}

constexpr std::array<std::pair<absl::string_view, int>, 5> kByteUnits = {
    {{"B", 0}, {"KiB", 10}, {"MiB", 20}, {"GiB", 30}, {"TiB", 40}}};

// Longest prefix that is a plain decimal number ("12", "1.5"); empty when there is none.
absl::string_view DecimalPrefix(absl::string_view text) {
  size_t end = 0;
  while (end < text.size() && absl::ascii_isdigit(text[end])) ++end;
  if (end == 0) return "";
  if (end + 1 < text.size() && text[end] == '.' && absl::ascii_isdigit(text[end + 1])) {
    ++end;
    while (end < text.size() && absl::ascii_isdigit(text[end])) ++end;
  }
  return text.substr(0, end);
}

absl::Status Refused(absl::string_view text, absl::string_view reason) {
  return absl::InvalidArgumentError(absl::StrCat(QuotedText(text), " ", reason));
}

}  // namespace

absl::StatusOr<absl::Duration> ParseDurationText(absl::string_view text) {
  const absl::string_view number = DecimalPrefix(text);
  if (number.empty()) return Refused(text, "is no duration; write a number and a unit, e.g. 20ms");
  const absl::string_view unit = text.substr(number.size());
  if (unit.empty()) return Refused(text, absl::StrCat("has no unit; say the unit, e.g. ", number, "ms"));
  for (const UnitLength& known : DurationUnits()) {
    if (unit != known.first) continue;
    absl::Duration duration;
    if (number.size() > 30 || !absl::ParseDuration(std::string(text), &duration) ||
        duration == absl::InfiniteDuration()) {
      return Refused(text, "is too long a duration");
    }
    return duration;
  }
  return Refused(text,
                 "has an unknown unit; the units are ns, us, ms, s, m and h, directly after the number");
}

absl::StatusOr<double> ParseRatioText(absl::string_view text) {
  const bool percent = absl::EndsWith(text, "%");
  const absl::string_view number = percent ? text.substr(0, text.size() - 1) : text;
  double value = 0;
  if (number.empty() || DecimalPrefix(number) != number || !absl::SimpleAtod(number, &value)) {
    return Refused(text, "is no share; write it like 5% or 0.05");
  }
  // Dividing keeps "1%" and "0.01" the same double; multiplying by 0.01 would not.
  return percent ? value / 100 : value;
}

absl::StatusOr<uint64_t> ParseBytesText(absl::string_view text) {
  size_t digits = 0;
  while (digits < text.size() && absl::ascii_isdigit(text[digits])) ++digits;
  const absl::string_view unit = text.substr(digits);
  uint64_t number = 0;
  if (digits == 0) return Refused(text, "is no size; write a whole number and a unit, e.g. 64MiB");
  int shift = unit.empty() ? 0 : -1;
  for (const auto& [name, bits] : kByteUnits) {
    if (unit == name) shift = bits;
  }
  if (shift < 0) return Refused(text, "has an unknown unit; the units are B, KiB, MiB, GiB and TiB");
  if (!absl::SimpleAtoi(text.substr(0, digits), &number) ||
      number > std::numeric_limits<uint64_t>::max() >> shift) {
    return Refused(text, "is too large a size");
  }
  return number << shift;
}

std::string DurationText(absl::Duration duration) {
  if (duration == absl::ZeroDuration()) return "0s";
  for (const auto& [name, length] : DurationUnits()) {
    if (duration % length == absl::ZeroDuration()) return absl::StrCat(duration / length, name);
  }
  return absl::FormatDuration(duration);
}

std::string RatioText(double ratio) { return absl::StrFormat("%.10g%%", ratio * 100); }

}  // namespace mempulse
