#include "exporter/ctl/sweep_output.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "nlohmann/json.hpp"

namespace mempulse {
namespace {

using testing::HasSubstr;
using testing::Not;

PageFrequency Page(uint64_t address, PageState state, double hertz, double low, double high) {
  PageFrequency page;
  page.address = address;
  page.state = state;
  page.frequency_hertz = hertz;
  page.low_hertz = low;
  page.high_hertz = high;
  page.region = 0;
  page.kind = RegionKind::kAnon;
  page.rungs = {{absl::Milliseconds(20), 10, 10}, {absl::Microseconds(250), 24, 12}};
  return page;
}

SweepFindings Findings() {
  SweepFindings findings;
  findings.pid = 42;
  findings.comm = "de\x1b[31mmo";
  findings.sample.tracker = TrackerKind::kWriteProtect;
  findings.sample.duration_seconds = 8;
  findings.sample.tracked_pages = 100;
  SweepRegion region;
  region.range = {0x1000, 0x9000};
  region.kind = static_cast<int>(RegionKind::kAnon);
  region.name = "odd, \"name\"\xff";
  findings.sample.regions = {region};
  findings.map.ceiling_hertz = 48'000;
  findings.map.pages = {
      Page(0x1000, PageState::kMeasured, 200, 198, 202), Page(0x2000, PageState::kMeasured, 201, 199, 203),
      Page(0x8000, PageState::kAtCeiling, 48'000, 48'000, std::numeric_limits<double>::infinity())};
  return findings;
}

TEST(SweepOutputTest, TheTableJoinsNeighboursAndEscapesWhatTargetsNamed) {
  const std::string table = SweepTable(Findings(), 40);
  EXPECT_THAT(table, HasSubstr("0x1000   2 "));
  EXPECT_THAT(table, HasSubstr("> 48 kHz"));
  EXPECT_THAT(table, HasSubstr("20ms:20/20 250us:24/48"));
  EXPECT_THAT(table, Not(HasSubstr("\x1b")));
  EXPECT_THAT(table, Not(HasSubstr("\xff")));
}

TEST(SweepOutputTest, TheCrossCheckIsShownWhereItWasDone) {
  SweepFindings findings = Findings();
  EXPECT_THAT(SweepTable(findings, 40), Not(HasSubstr("cross-check")));
  EXPECT_FALSE(nlohmann::json::parse(SweepJson(findings)).contains("cross_check"));
  findings.sample.cross_check = {10, 50, 3, 1};
  EXPECT_THAT(SweepTable(findings, 40),
              HasSubstr("cross-check: of 64 pages hashing saw 11 written, the tracker missed 1 of those"));
  EXPECT_EQ(nlohmann::json::parse(SweepJson(findings))["cross_check"]["missed"], 1);
}

TEST(SweepOutputTest, TheTableSaysWhatItLeftOut) {
  EXPECT_THAT(SweepTable(Findings(), 1), HasSubstr("and 1 more rows"));
}

TEST(SweepOutputTest, JsonHasEveryPageAndNullForInfinity) {
  const nlohmann::json json = nlohmann::json::parse(SweepJson(Findings()));
  EXPECT_EQ(json["target"]["pid"], 42);
  EXPECT_EQ(json["tracker"], "writeprotect");
  EXPECT_EQ(json["ceiling_hertz"], 48'000);
  ASSERT_EQ(json["pages"].size(), 3u);
  EXPECT_EQ(json["pages"][0]["address"], "0x1000");
  EXPECT_EQ(json["pages"][0]["state"], "measured");
  EXPECT_EQ(json["pages"][0]["rungs"][1]["hits"], 12);
  EXPECT_TRUE(json["pages"][2]["high_hertz"].is_null());
}

TEST(SweepOutputTest, CsvQuotesFields) {
  EXPECT_THAT(SweepCsv(Findings()), HasSubstr("0x1000,200,198,202,measured,anon,\"odd, "));
}

}  // namespace
}  // namespace mempulse
