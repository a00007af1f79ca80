#pragma once

#include <cstdint>
#include <variant>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "config/options.h"
#include "config/text_form.h"

// How one key of the file binds to one field of the options. The same binding is read by the parser (which
// writes through the pointers) and by the reference (which reads the defaults through them). Nothing here
// owns a field.
namespace mempulse {

struct Key;
using Section = std::vector<Key>;

struct SwitchField {
  bool* value;
};
struct CountField {
  std::variant<int*, uint64_t*> value;
  int64_t low;
  int64_t high;
};
struct RatioField {
  double* value;
  double low;
  double high;
  bool above_low = false;  // `low` itself is out of range
};
struct DurationField {
  absl::Duration* value;
  absl::Duration low;
  absl::Duration high;
};
struct ChoiceField {
  std::string* value;
  std::vector<absl::string_view> choices;
};
struct TrackerField {
  TrackerChoice* value;
};
struct AttachField {
  AttachChoice* value;
};
struct TextField {
  std::string* value;
  const TextForm* form;
};
// Lists: one value stands for a list of one, no value may come twice, and a list is empty only where that
// says something.
struct CountListField {
  std::vector<int>* value;
  int64_t low;
  int64_t high;
};
struct DurationListField {
  std::vector<absl::Duration>* value;
  absl::Duration low;
  absl::Duration high;
  bool may_be_empty;
};
struct TextListField {
  std::vector<std::string>* value;
  const TextForm* form;
};
struct SectionField {
  Section keys;
};
struct GroupListField {
  std::vector<TargetGroupOptions>* groups;
  const SweepOptions* inherited;  // what a group's sweep starts from; read before the groups
};

using Field =
    std::variant<SwitchField, CountField, RatioField, DurationField, ChoiceField, TrackerField, AttachField,
                 TextField, CountListField, DurationListField, TextListField, SectionField, GroupListField>;

enum class Need {
  kOptional,
  kRequired,
  kOneOfThese,  // at least one of the section's keys marked so
};

struct Key {
  absl::string_view name;
  Field field;
  absl::string_view help;          // sentences of markdown
  absl::string_view example = {};  // a YAML value, for a key whose default is nothing
  Need need = Need::kOptional;
};

}  // namespace mempulse
