#include "exporter/baseline/baseline_store.h"

#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "exporter/baseline/baseline_codec.h"

namespace mempulse {
namespace {

constexpr size_t kLongestBuildId = 64;

// Build ids come out of files of the target: whatever they hold, the name stays in the folder.
std::string NameOfBuild(absl::string_view build_id) {
  std::string name;
  for (const char c : build_id.substr(0, kLongestBuildId)) name.push_back(absl::ascii_isalnum(c) ? c : '_');
  return name.empty() ? "nobuild" : name;
}

}  // namespace

BaselineStore::BaselineStore(std::string folder, FileCalls calls)
    : folder_(std::move(folder)), calls_(std::move(calls)) {}

std::string BaselineStore::PathOf(absl::string_view group, absl::string_view build_id) const {
  return absl::StrCat(folder_, "/", group, ".", NameOfBuild(build_id), ".baseline");
}

bool BaselineStore::TryLoad(const std::string& path, absl::string_view group, absl::string_view build_id,
                            Loaded* loaded) {
  const absl::StatusOr<std::string> bytes = ReadWholeFile(path, kLargestBaselineFile);
  if (absl::IsNotFound(bytes.status())) return false;
  absl::Status problem = bytes.status();
  if (bytes.ok()) {
    absl::StatusOr<Baseline> baseline = DecodeBaseline(*bytes);
    problem = baseline.status();
    if (baseline.ok() && (baseline->group != group || baseline->build_id != build_id)) {
      problem = absl::InvalidArgumentError(
          absl::StrCat("it is the baseline of group ", baseline->group, ", build ", baseline->build_id));
    }
    if (problem.ok()) {
      loaded->baseline = *std::move(baseline);
      return true;
    }
  }
  // A file that cannot be opened may be readable another day; one that holds something else never will be.
  const bool aside =
      absl::IsInvalidArgument(problem) && calls_.rename(path.c_str(), (path + ".damaged").c_str()) == 0;
  loaded->set_aside += aside ? 1 : 0;
  loaded->problems.push_back(
      absl::StrCat(path, ": ", problem.message(), aside ? "; set aside as .damaged" : ""));
  return false;
}

BaselineStore::Loaded BaselineStore::Load(absl::string_view group, absl::string_view build_id) {
  Loaded loaded;
  const std::string path = PathOf(group, build_id);
  if (TryLoad(path, group, build_id, &loaded)) return loaded;
  TryLoad(path + ".previous", group, build_id, &loaded);
  return loaded;
}

absl::Status BaselineStore::Save(const Baseline& baseline) {
  const std::string bytes = EncodeBaseline(baseline);
  const std::string path = PathOf(baseline.group, baseline.build_id);
  if (bytes.size() > kLargestBaselineFile) {
    return absl::ResourceExhaustedError(
        absl::StrCat(path, ": ", bytes.size(), " bytes are more than ", kLargestBaselineFile));
  }
  return SaveWholeFile(calls_, path, bytes);
}

}  // namespace mempulse
