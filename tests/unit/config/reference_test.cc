#include "config/reference.h"

#include <gtest/gtest.h>

#include <regex>

#include "absl/strings/match.h"
#include "config/key_table.h"
#include "config/load_options.h"
#include "tests/unit/config/config_files.h"

namespace mempulse {
namespace {

TEST(ReferenceTest, TheExampleWithEveryKeyParsesToTheDefaults) {
  Options expected;
  TargetGroupOptions& group = expected.targets.emplace_back();
  group.name = "app";
  group.comms = {"redis-server"};
  const absl::StatusOr<Options> options = LoadOptions(MEMPULSE_SOURCE_DIR "/config/examples/full.yml");
  ASSERT_EQ(options.status(), absl::OkStatus());
  EXPECT_EQ(*options, expected);
}

TEST(ReferenceTest, TheKeysThatTheExampleOnlyShowsAreValidToo) {
  const std::string shown = std::regex_replace(ReferenceExample(), std::regex("#([a-z])"), "$1");
  const absl::StatusOr<Options> options = ParseOptions(shown, "full.yml");
  ASSERT_EQ(options.status(), absl::OkStatus());
  const TargetGroupOptions& group = options->targets.at(0);
  for (size_t given :
       {group.pids.size(), group.pid_files.size(), group.exes.size(), group.command_lines.size(),
        group.cgroups.size(), group.exclude.pids.size(), group.exclude.comms.size(),
        group.exclude.exes.size(), group.exclude.command_lines.size(), group.exclude.cgroups.size()}) {
    EXPECT_EQ(given, 1u);
  }
}

TEST(ReferenceTest, EveryKeyHasItsSentence) {
  Options options;
  for (const Key& section : OptionsKeys(options)) {
    EXPECT_TRUE(absl::EndsWith(section.help, ".")) << section.name;
    const auto* nested = std::get_if<SectionField>(&section.field);
    if (nested == nullptr) continue;
    for (const Key& key : nested->keys) EXPECT_TRUE(absl::EndsWith(key.help, ".")) << key.name;
  }
}

class ExampleTest : public ::testing::TestWithParam<const char*> {};

TEST_P(ExampleTest, Parses) {
  EXPECT_EQ(LoadOptions(std::string(MEMPULSE_SOURCE_DIR "/config/examples/") + GetParam() + ".yml").status(),
            absl::OkStatus());
}

INSTANTIATE_TEST_SUITE_P(Files, ExampleTest, ::testing::Values("demo", "sidecar", "node", "full"),
                         [](const auto& example) { return std::string(example.param); });

}  // namespace
}  // namespace mempulse
