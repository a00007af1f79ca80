#include "config/problem_list.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace mempulse {

void ProblemList::Add(int line, const std::string& path, absl::string_view sentence) {
  problems_.push_back({line, path, std::string(sentence)});
}

void ProblemList::AddValue(int line, const std::string& path, absl::string_view sentence) {
  Add(line, path, absl::StrCat(path, ": ", sentence));
}

bool ProblemList::Touches(absl::string_view path) const {
  return std::any_of(problems_.begin(), problems_.end(), [path](const Problem& problem) {
    const absl::string_view other = problem.path;
    return absl::StartsWith(other, path) &&
           (other.size() == path.size() || other[path.size()] == '.' || other[path.size()] == '[');
  });
}

std::string ProblemList::Text(absl::string_view name) const {
  std::vector<Problem> sorted = problems_;
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const Problem& a, const Problem& b) { return a.line < b.line; });
  return absl::StrJoin(sorted, "\n", [name](std::string* out, const Problem& problem) {
    absl::StrAppend(out, name, ":", problem.line, ": ", problem.sentence);
  });
}

}  // namespace mempulse
