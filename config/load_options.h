#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "config/options.h"
#include "config/units.h"  // the units that the file and the flags take

namespace mempulse {

// Parses a YAML configuration. `name` is what errors call it. All errors of the file are collected, one a
// line, each as "NAME:LINE: sentence", with the near key when there is one:
//   config.yml:12: unknown key "windw" in sweep; did you mean "windows"?
// InvalidArgument only; never throws. Missing keys keep their defaults; a group's `sweep` starts from
// that of the file.
absl::StatusOr<Options> ParseOptions(absl::string_view yaml, const std::string& name);

// Reads and parses a file (at most 1 MiB).
absl::StatusOr<Options> LoadOptions(const std::string& path);

}  // namespace mempulse
