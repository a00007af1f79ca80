#pragma once

#include <vector>

#include "absl/strings/string_view.h"
#include "config/key.h"

// The table of every key: name, type, range and help. Defaults are those of options.h. The parser,
// docs/config.md, schema.json and examples/full.yml all come from here.
namespace mempulse {

// The whole file, bound to `options`; valid while it lives. In reading order: `sweep` before `targets`.
Section OptionsKeys(Options& options);
Section GroupKeys(TargetGroupOptions& group);

// The names of TrackerChoice, by its values.
const std::vector<absl::string_view>& TrackerChoiceNames();
// The same of AttachChoice; the first two are YAML's switches.
const std::vector<absl::string_view>& AttachChoiceNames();

}  // namespace mempulse
