#pragma once

#include <map>
#include <string>

#include "config/key.h"
#include "config/problem_list.h"
#include "config/yaml_reader.h"

namespace mempulse {

// Where the file gives each key: "targets[0].sweep.jitter" -> line.
class KeyLines {
 public:
  void Set(const std::string& path, int line) { lines_[path] = line; }
  bool Has(const std::string& path) const { return lines_.count(path) > 0; }
  // The line of the key or, when the file does not give it, of what it lies in; 1 when there is none.
  int Of(const std::string& path) const;

 private:
  std::map<std::string, int> lines_;
};

// Writes the map `node` into the fields of `section`, which is at `path` ("" for the file). A value that is
// wrong is added to `problems` and leaves its field as it was; reading goes on behind it.
void ReadSection(const YamlNode& node, const std::string& path, const Section& section, KeyLines& lines,
                 ProblemList& problems);

}  // namespace mempulse
