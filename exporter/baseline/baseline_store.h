#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/optional.h"
#include "exporter/analysis/baseline.h"
#include "exporter/files/whole_file.h"

namespace mempulse {

// The baselines of an exporter: one file for each target group and build in one folder,
// FOLDER/GROUP.BUILD.baseline, with the generation before as .previous. Not thread-safe.
class BaselineStore {
 public:
  // The folder must exist by the time something is saved.
  explicit BaselineStore(std::string folder, FileCalls calls = SystemFileCalls());

  struct Loaded {
    absl::optional<Baseline> baseline;  // none: nothing was saved, or nothing that can be read
    std::vector<std::string> problems;  // a sentence for each file that could not be read, naming it
    int set_aside = 0;                  // damaged or foreign files renamed to .damaged
  };
  // The last generation that can be read. Never fails: what is wrong is said in `problems`.
  Loaded Load(absl::string_view group, absl::string_view build_id);

  // As SaveWholeFile has it. ResourceExhausted when it would be larger than kLargestBaselineFile.
  absl::Status Save(const Baseline& baseline);

  std::string PathOf(absl::string_view group, absl::string_view build_id) const;

 private:
  bool TryLoad(const std::string& path, absl::string_view group, absl::string_view build_id, Loaded* loaded);

  std::string folder_;
  FileCalls calls_;
};

}  // namespace mempulse
