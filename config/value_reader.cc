#include "config/value_reader.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "config/key_table.h"
#include "config/near_name.h"
#include "config/quoted_text.h"
#include "config/units.h"

namespace mempulse {
namespace {

template <typename... Parts>
absl::Status Refused(const Parts&... parts) {
  return absl::InvalidArgumentError(absl::StrCat(parts...));
}

// OK for a scalar; else what stands there instead of `wanted`.
absl::Status CheckScalar(const YamlNode& node, absl::string_view wanted) {
  switch (node.kind) {
    case YamlNode::Kind::kScalar:
      return absl::OkStatus();
    case YamlNode::Kind::kNull:
      return Refused("has no value; give ", wanted, " or remove the key");
    case YamlNode::Kind::kList:
      return Refused("takes ", wanted, ", not a list");
    case YamlNode::Kind::kMap:
      return Refused("takes ", wanted, ", not keys");
  }
  return absl::OkStatus();
}

bool IsYamlBoolean(absl::string_view text) {
  const std::string lower = absl::AsciiStrToLower(text);
  return lower == "yes" || lower == "no" || lower == "on" || lower == "off" || lower == "true" ||
         lower == "false";
}

bool IsYamlNumber(absl::string_view text) {
  double number = 0;
  return !text.empty() && (absl::ascii_isdigit(text[0]) || absl::StrContains("+-.", text.substr(0, 1))) &&
         absl::SimpleAtod(text, &number);
}

bool HasLeadingZero(absl::string_view text) {
  return text.size() > 1 && text[0] == '0' && absl::ascii_isdigit(text[1]);
}

}  // namespace

absl::StatusOr<bool> SwitchValue(const YamlNode& node) {
  if (absl::Status status = CheckScalar(node, "true or false"); !status.ok()) return status;
  if (node.quoted) return Refused(QuotedText(node.text), " in quotes is text; use true or false");
  if (node.text == "true") return true;
  if (node.text == "false") return false;
  return Refused(QuotedText(node.text), " is no switch; use true or false");
}

absl::StatusOr<int64_t> CountValue(const YamlNode& node, int64_t low, int64_t high) {
  if (absl::Status status = CheckScalar(node, "a whole number"); !status.ok()) return status;
  if (node.quoted) return Refused(QuotedText(node.text), " in quotes is text; write the number without them");
  const absl::string_view text = node.text;
  const absl::string_view digits = absl::StartsWith(text, "-") ? text.substr(1) : text;
  if (digits.empty() || !std::all_of(digits.begin(), digits.end(), absl::ascii_isdigit)) {
    return Refused(QuotedText(text), " is no whole number");
  }
  if (HasLeadingZero(digits)) return Refused(QuotedText(text), " starts with a zero, which may mean octal");
  int64_t number = 0;
  if (!absl::SimpleAtoi(text, &number) || number < low || number > high) {
    return Refused(text.substr(0, 32), " is outside ", low, " to ", high);
  }
  return number;
}

absl::StatusOr<double> RatioValue(const YamlNode& node, const RatioField& field) {
  if (absl::Status status = CheckScalar(node, "a share like 5%"); !status.ok()) return status;
  absl::StatusOr<double> ratio = ParseRatioText(node.text);
  if (!ratio.ok()) return ratio;
  const bool too_low = field.above_low ? *ratio <= field.low : *ratio < field.low;
  if (!too_low && *ratio <= field.high) return ratio;
  const bool meant_percent = *ratio > 1 && *ratio <= field.high * 100 && !absl::EndsWith(node.text, "%");
  return Refused(QuotedText(node.text), field.above_low ? " is not above " : " is outside ",
                 RatioText(field.low), field.above_low ? " and at most " : " to ", RatioText(field.high),
                 meant_percent ? absl::StrCat("; did you mean \"", node.text, "%\"?") : "");
}

absl::StatusOr<absl::Duration> DurationValue(const YamlNode& node, absl::Duration low, absl::Duration high) {
  if (absl::Status status = CheckScalar(node, "a duration like 20ms"); !status.ok()) return status;
  absl::StatusOr<absl::Duration> duration = ParseDurationText(node.text);
  if (!duration.ok() || (*duration >= low && *duration <= high)) return duration;
  return Refused(node.text.substr(0, 32), " is outside ", DurationText(low), " to ", DurationText(high));
}

absl::StatusOr<std::string> TextValue(const YamlNode& node, const TextForm& form) {
  if (node.kind == YamlNode::Kind::kList && form.noun == kListenAddress.noun) {
    return Refused("takes an address, not a list; write an IPv6 address in quotes: \"[::1]:9834\"");
  }
  if (absl::Status status = CheckScalar(node, absl::StrCat("text (", form.noun, ")")); !status.ok())
    return status;
  if (!node.quoted && (IsYamlBoolean(node.text) || IsYamlNumber(node.text))) {
    return Refused(node.text.substr(0, 32),
                   " is no text in YAML; write it in quotes: ", QuotedText(node.text));
  }
  if (absl::Status status = CheckTextForm(node.text, form); !status.ok()) return status;
  return node.text;
}

absl::StatusOr<AttachChoice> AttachValue(const YamlNode& node) {
  const absl::StatusOr<size_t> index = ChoiceValue(node, AttachChoiceNames());
  if (!index.ok()) return index.status();
  const auto choice = static_cast<AttachChoice>(*index);
  if (node.quoted && choice != AttachChoice::kCooperative) {
    return Refused(QuotedText(node.text), " in quotes is text; use true, false or cooperative");
  }
  return choice;
}

absl::StatusOr<size_t> ChoiceValue(const YamlNode& node, const std::vector<absl::string_view>& choices) {
  const std::string all = absl::StrJoin(choices, ", ");
  if (absl::Status status = CheckScalar(node, absl::StrCat("one of ", all)); !status.ok()) return status;
  const auto found = std::find(choices.begin(), choices.end(), node.text);
  if (found != choices.end()) return static_cast<size_t>(found - choices.begin());
  return Refused(QuotedText(node.text), " is none of ", all, NearNameHint(node.text, choices));
}

}  // namespace mempulse
