#include "config/near_name.h"

#include <algorithm>
#include <unordered_map>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"

namespace mempulse {
namespace {

constexpr size_t kMaxWordBytes = 64;

std::string Folded(absl::string_view word) {
  return absl::AsciiStrToLower(absl::StrReplaceAll(word, {{"-", "_"}}));
}

// "warn" of "warning"; less than three bytes would begin too much.
bool IsBeginning(absl::string_view beginning, absl::string_view word) {
  return beginning.size() >= 3 && absl::StartsWith(word, beginning);
}

}  // namespace

int EditDistance(absl::string_view a, absl::string_view b) {
  // Unrestricted form: `last_row` keeps where a byte of `a` was last met, so edits may lie between swapped
  // ones.
  const int rows = static_cast<int>(a.size());
  const int columns = static_cast<int>(b.size());
  const int far = rows + columns;
  std::vector<std::vector<int>> distance(rows + 2, std::vector<int>(columns + 2, far));
  for (int i = 0; i <= rows; ++i) distance[i + 1][1] = i;
  for (int j = 0; j <= columns; ++j) distance[1][j + 1] = j;
  std::unordered_map<char, int> last_row;
  for (int i = 1; i <= rows; ++i) {
    int last_column = 0;
    for (int j = 1; j <= columns; ++j) {
      const int swap_row = last_row[b[j - 1]];
      const int swap_column = last_column;
      const bool same = a[i - 1] == b[j - 1];
      if (same) last_column = j;
      distance[i + 1][j + 1] =
          std::min({distance[i][j] + (same ? 0 : 1), distance[i + 1][j] + 1, distance[i][j + 1] + 1,
                    distance[swap_row][swap_column] + (i - swap_row - 1) + 1 + (j - swap_column - 1)});
    }
    last_row[a[i - 1]] = i;
  }
  return distance[rows + 1][columns + 1];
}

std::string NearName(absl::string_view word, const std::vector<absl::string_view>& candidates) {
  if (word.empty() || word.size() > kMaxWordBytes) return "";
  const std::string folded = Folded(word);
  std::string nearest;
  int least = std::min(1 + static_cast<int>(word.size()) / 4, 3) + 1;
  for (absl::string_view candidate : candidates) {
    const int distance = EditDistance(folded, Folded(candidate));
    if (distance >= least) continue;
    least = distance;
    nearest = std::string(candidate);
  }
  if (!nearest.empty()) return nearest;
  const auto longer = std::find_if(candidates.begin(), candidates.end(), [&](absl::string_view candidate) {
    return IsBeginning(folded, candidate) || IsBeginning(candidate, folded);
  });
  return longer == candidates.end() ? "" : std::string(*longer);
}

std::string NearNameHint(absl::string_view word, const std::vector<absl::string_view>& candidates) {
  const std::string nearest = NearName(word, candidates);
  return nearest.empty() ? "" : absl::StrCat("; did you mean \"", nearest, "\"?");
}

}  // namespace mempulse
