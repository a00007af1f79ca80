#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "config/key.h"
#include "config/yaml_reader.h"

// One scalar of the file as a value of its type and range. Pure; InvalidArgument holds the sentence that goes
// after "KEY: ". YAML's own guesses are not followed: 1.1 booleans, octal, quoted numbers and bare durations
// are refused.
namespace mempulse {

absl::StatusOr<bool> SwitchValue(const YamlNode& node);
absl::StatusOr<int64_t> CountValue(const YamlNode& node, int64_t low, int64_t high);
absl::StatusOr<double> RatioValue(const YamlNode& node, const RatioField& field);
absl::StatusOr<absl::Duration> DurationValue(const YamlNode& node, absl::Duration low, absl::Duration high);
absl::StatusOr<std::string> TextValue(const YamlNode& node, const TextForm& form);
// `true`, `false` or the word `cooperative`.
absl::StatusOr<AttachChoice> AttachValue(const YamlNode& node);
// Index of the choice.
absl::StatusOr<size_t> ChoiceValue(const YamlNode& node, const std::vector<absl::string_view>& choices);

}  // namespace mempulse
