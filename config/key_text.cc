#include "config/key_text.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "config/key_table.h"
#include "config/quoted_text.h"
#include "config/units.h"

namespace mempulse {
namespace {

std::string Plural(absl::string_view noun) {
  return absl::StrCat(noun, absl::EndsWith(noun, "s") || absl::EndsWith(noun, "ss") ? "es" : "s");
}

std::string Between(absl::Duration low, absl::Duration high) {
  return absl::StrCat(DurationText(low), " to ", DurationText(high));
}

// Text that YAML would read as something else stands in quotes.
std::string YamlText(absl::string_view text) {
  const bool plain = !text.empty() && text.find_first_of(":[]{}#&*!|>'\"%@`, ") == absl::string_view::npos;
  return plain ? std::string(text) : QuotedText(text);
}

struct TypeName {
  std::string operator()(const SwitchField&) const { return "true or false"; }
  std::string operator()(const CountField&) const { return "whole number"; }
  std::string operator()(const RatioField&) const { return "share"; }
  std::string operator()(const DurationField&) const { return "duration"; }
  std::string operator()(const ChoiceField&) const { return "word"; }
  std::string operator()(const TrackerField&) const { return "word"; }
  std::string operator()(const AttachField&) const { return "switch or word"; }
  std::string operator()(const TextField& field) const { return std::string(field.form->noun); }
  std::string operator()(const CountListField&) const { return "list of whole numbers"; }
  std::string operator()(const DurationListField&) const { return "list of durations"; }
  std::string operator()(const TextListField& field) const { return "list of " + Plural(field.form->noun); }
  std::string operator()(const SectionField&) const { return "keys"; }
  std::string operator()(const GroupListField&) const { return "list of groups"; }
};

struct RangeName {
  std::string operator()(const CountField& field) const {
    return absl::StrCat(field.low, " to ", field.high);
  }
  std::string operator()(const RatioField& field) const {
    return absl::StrCat(field.above_low ? "above " : "", RatioText(field.low),
                        field.above_low ? ", at most " : " to ", RatioText(field.high));
  }
  std::string operator()(const DurationField& field) const { return Between(field.low, field.high); }
  std::string operator()(const ChoiceField& field) const { return absl::StrJoin(field.choices, ", "); }
  std::string operator()(const TrackerField&) const { return absl::StrJoin(TrackerChoiceNames(), ", "); }
  std::string operator()(const AttachField&) const { return absl::StrJoin(AttachChoiceNames(), ", "); }
  std::string operator()(const CountListField& field) const {
    return absl::StrCat(field.low, " to ", field.high);
  }
  std::string operator()(const DurationListField& field) const { return Between(field.low, field.high); }
  template <typename Other>
  std::string operator()(const Other&) const {
    return "";
  }
};

template <typename Item, typename ItemText>
std::string ListText(const std::vector<Item>& list, ItemText text) {
  return absl::StrCat(
      "[", absl::StrJoin(list, ", ", [&](std::string* out, const Item& item) { *out += text(item); }), "]");
}

struct ValueName {
  std::string operator()(const SwitchField& field) const { return *field.value ? "true" : "false"; }
  std::string operator()(const CountField& field) const {
    return std::visit([](const auto* value) { return absl::StrCat(*value); }, field.value);
  }
  std::string operator()(const RatioField& field) const { return RatioText(*field.value); }
  std::string operator()(const DurationField& field) const { return DurationText(*field.value); }
  std::string operator()(const ChoiceField& field) const { return *field.value; }
  std::string operator()(const TrackerField& field) const {
    return std::string(TrackerChoiceNames()[static_cast<size_t>(*field.value)]);
  }
  std::string operator()(const AttachField& field) const {
    return std::string(AttachChoiceNames()[static_cast<size_t>(*field.value)]);
  }
  std::string operator()(const TextField& field) const {
    return field.value->empty() ? "" : YamlText(*field.value);
  }
  std::string operator()(const CountListField& field) const {
    return field.value->empty() ? "" : ListText(*field.value, [](int item) { return absl::StrCat(item); });
  }
  std::string operator()(const DurationListField& field) const {
    return ListText(*field.value, DurationText);
  }
  std::string operator()(const TextListField& field) const {
    return field.value->empty()
               ? ""
               : ListText(*field.value, [](const std::string& item) { return YamlText(item); });
  }
  std::string operator()(const SectionField&) const { return ""; }
  std::string operator()(const GroupListField&) const { return ""; }
};

}  // namespace

std::string TypeText(const Field& field) { return std::visit(TypeName{}, field); }
std::string RangeText(const Field& field) { return std::visit(RangeName{}, field); }
std::string ValueText(const Field& field) { return std::visit(ValueName{}, field); }

}  // namespace mempulse
