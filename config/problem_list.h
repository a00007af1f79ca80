#pragma once

#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace mempulse {

// What is wrong with one file, collected so that all of it is told at once. Not thread-safe.
class ProblemList {
 public:
  // `line` counts from 1. `path` is the key concerned ("targets[0].sweep.jitter", "" for the file).
  // Shown as the sentence alone.
  void Add(int line, const std::string& path, absl::string_view sentence);
  // The same, shown as "PATH: SENTENCE".
  void AddValue(int line, const std::string& path, absl::string_view sentence);

  bool empty() const { return problems_.empty(); }
  // True when a problem was added for the key `path` or a key inside it; checks across keys are skipped then.
  bool Touches(absl::string_view path) const;

  // "NAME:LINE: SENTENCE", one a line, by line number and then in the order of adding.
  std::string Text(absl::string_view name) const;

 private:
  struct Problem {
    int line = 0;
    std::string path;
    std::string sentence;
  };
  std::vector<Problem> problems_;
};

}  // namespace mempulse
