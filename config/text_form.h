#pragma once

#include <cstddef>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace mempulse {

// What a text value must look like. `noun` is its name in the reference; `pattern` (ECMAScript) is the part
// of the rule that a JSON schema can hold; `check` is the whole rule, InvalidArgument with a sentence that
// goes after the key.
struct TextForm {
  absl::string_view noun;
  absl::string_view pattern;
  size_t max_bytes;
  absl::Status (*check)(absl::string_view text);
};

extern const TextForm kGroupName;
extern const TextForm kFilePath;
extern const TextForm kAbsolutePath;
extern const TextForm kSocketPath;  // absolute, as long as a Unix socket's may be
extern const TextForm kComm;
extern const TextForm kRegexp;
extern const TextForm kCgroupGlob;
extern const TextForm kListenAddress;
extern const TextForm kTelemetryPath;

// `form.check` behind the length limit; also refuses the empty text and control characters.
absl::Status CheckTextForm(absl::string_view text, const TextForm& form);

}  // namespace mempulse
