#include "exporter/publish/targets_json.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "config/utf8_text.h"
#include "tests/unit/exporter/publish/report_fixture.h"

namespace mempulse {
namespace {

TEST(TargetsJson, TellsTheRoundAndEachProcess) {
  const nlohmann::json json = nlohmann::json::parse(RenderTargetsJson(FixtureReport()));
  EXPECT_EQ(json["round"]["number"], 12);
  EXPECT_EQ(json["round"]["finished"], "2023-11-14T22:13:25.5+00:00");
  ASSERT_EQ(json["targets"].size(), 3u);
  const nlohmann::json& process = json["targets"][0]["processes"][0];
  EXPECT_EQ(process["pid"], 4321);
  EXPECT_EQ(process["tracker"], "writeprotect");
  EXPECT_EQ(process["swept_at"], "2023-11-14T22:13:24+00:00");
  EXPECT_EQ(process["ceiling_pages"], 6);
  EXPECT_EQ(process["support"][0]["reason"], "ok");
  EXPECT_EQ(process["rungs"][1]["requested_window_seconds"], 0.00025);
  EXPECT_EQ(json["targets"][0]["observer_effect"]["stops"], 3);
}

TEST(TargetsJson, InfiniteIsNull) {
  const nlohmann::json json = nlohmann::json::parse(RenderTargetsJson(FixtureReport()));
  const nlohmann::json& hot = json["targets"][0]["processes"][0]["hot_regions"][0];
  EXPECT_EQ(hot["address"], "0x555500004000");
  EXPECT_EQ(hot["state"], "at_ceiling");
  EXPECT_TRUE(hot["high_hertz"].is_null());
  EXPECT_EQ(hot["region"], "[heap]");
  EXPECT_EQ(hot["rungs"][0]["looks"], 10);
}

TEST(TargetsJson, BadTextIsRepaired) {
  const std::string text = RenderTargetsJson(FixtureReport());
  EXPECT_EQ(FindBadByte(text), text.size());
}

TEST(TargetsJson, WithoutAnAnswerThereAreNoFigures) {
  const nlohmann::json json = nlohmann::json::parse(RenderTargetsJson(FixtureReport()));
  const nlohmann::json& process = json["targets"][1]["processes"][0];
  EXPECT_EQ(process["tracker"], "none");
  EXPECT_EQ(process["support"][2]["reason"], "other_user");
  EXPECT_FALSE(process.contains("written_pages"));
  EXPECT_FALSE(process.contains("ceiling_hertz"));
}

TEST(TargetsJson, BeforeTheFirstRound) {
  const nlohmann::json json = nlohmann::json::parse(RenderTargetsJson(RoundReport()));
  EXPECT_EQ(json["round"]["number"], 0);
  EXPECT_TRUE(json["round"]["finished"].is_null());
  EXPECT_TRUE(json["targets"].empty());
}

}  // namespace
}  // namespace mempulse
