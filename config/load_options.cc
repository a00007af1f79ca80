#include "config/load_options.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <optional>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "config/cross_checks.h"
#include "config/key_table.h"
#include "config/problem_list.h"
#include "config/section_reader.h"
#include "config/yaml_reader.h"

namespace mempulse {
namespace {

constexpr size_t kMaxFileBytes = 1 << 20;

struct CloseFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};

absl::StatusOr<std::string> ReadWholeFile(const std::string& path) {
  const std::unique_ptr<std::FILE, CloseFile> file(std::fopen(path.c_str(), "rbe"));
  if (file == nullptr) return absl::InvalidArgumentError(absl::StrCat(path, ": ", std::strerror(errno)));
  std::string text(kMaxFileBytes + 1, '\0');
  text.resize(std::fread(text.data(), 1, text.size(), file.get()));
  if (std::ferror(file.get()) != 0) {
    return absl::InvalidArgumentError(absl::StrCat(path, ": ", std::strerror(errno)));
  }
  return text;
}

}  // namespace

absl::StatusOr<Options> ParseOptions(absl::string_view yaml, const std::string& name) {
  if (yaml.size() > kMaxFileBytes) {
    return absl::InvalidArgumentError(absl::StrCat(name, ":1: the file is larger than 1 MiB"));
  }
  ProblemList problems;
  Options options;
  if (const std::optional<YamlNode> root = ReadYaml(yaml, problems); root.has_value()) {
    KeyLines lines;
    ReadSection(*root, "", OptionsKeys(options), lines, problems);
    CheckAcrossKeys(options, lines, problems);
  }
  if (!problems.empty()) return absl::InvalidArgumentError(problems.Text(name));
  return options;
}

absl::StatusOr<Options> LoadOptions(const std::string& path) {
  const absl::StatusOr<std::string> text = ReadWholeFile(path);
  if (!text.ok()) return text.status();
  return ParseOptions(*text, path);
}

}  // namespace mempulse
