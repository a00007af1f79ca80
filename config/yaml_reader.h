#pragma once

#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "config/problem_list.h"

namespace mempulse {

// One YAML document as a plain tree. Nothing is interpreted: a scalar is its text, and whether it was quoted.
struct YamlNode {
  enum class Kind { kNull, kScalar, kList, kMap };

  Kind kind = Kind::kNull;
  int line = 1;                  // from 1, where the node starts
  std::string text;              // of a scalar, valid UTF-8
  bool quoted = false;           // a scalar in quotes or a block scalar: always text
  std::vector<YamlNode> keys;    // of a map, in the order of the file, repeated keys included
  std::vector<YamlNode> values;  // of a map (one for each key) or a list
};

// Reads exactly one document; an empty one gives an empty map. nullopt after adding one problem (syntax, not
// UTF-8, control characters, tags, a second document, more than 10,000 nodes with aliases expanded, more than
// 16 levels, a scalar over 4096 bytes). Never throws. The only user of yaml-cpp.
std::optional<YamlNode> ReadYaml(absl::string_view yaml, ProblemList& problems);

}  // namespace mempulse
