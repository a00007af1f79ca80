#include "tests/unit/config/config_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "config/load_options.h"

namespace mempulse {

std::vector<std::string> ConfigFiles(const std::string& suffix) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(MEMPULSE_SOURCE_DIR "/tests/configs")) {
    const std::string name = entry.path().filename().string();
    if (absl::EndsWith(name, suffix)) names.push_back(name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::string SourceText(const std::string& path) {
  std::ifstream file(std::string(MEMPULSE_SOURCE_DIR "/") + path, std::ios::binary);
  EXPECT_TRUE(file.good()) << path;
  return std::string(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
}

namespace {

std::string ExpectedErrors(const std::string& text) {
  std::vector<std::string> expected;
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    if (absl::ConsumePrefix(&line, "# expect: ")) expected.emplace_back(line);
  }
  return absl::StrJoin(expected, "\n");
}

class BadConfigTest : public ::testing::TestWithParam<std::string> {};

TEST_P(BadConfigTest, GivesExactlyTheErrorsItStates) {
  const std::string text = SourceText("tests/configs/" + GetParam());
  const absl::StatusOr<Options> options = ParseOptions(text, GetParam());
  EXPECT_EQ(options.status().code(), absl::StatusCode::kInvalidArgument);
  ASSERT_NE(ExpectedErrors(text), "") << "state them as \"# expect: FILE:LINE: sentence\"";
  EXPECT_EQ(std::string(options.status().message()), ExpectedErrors(text));
}

class GoodConfigTest : public ::testing::TestWithParam<std::string> {};

TEST_P(GoodConfigTest, IsAccepted) {
  EXPECT_EQ(ParseOptions(SourceText("tests/configs/" + GetParam()), GetParam()).status(), absl::OkStatus());
}

std::string TestName(const ::testing::TestParamInfo<std::string>& info) {
  return info.param.substr(0, info.param.find('.'));
}

INSTANTIATE_TEST_SUITE_P(Files, BadConfigTest, ::testing::ValuesIn(ConfigFiles(".bad.yml")), TestName);
INSTANTIATE_TEST_SUITE_P(Files, GoodConfigTest, ::testing::ValuesIn(ConfigFiles(".good.yml")), TestName);

}  // namespace
}  // namespace mempulse
