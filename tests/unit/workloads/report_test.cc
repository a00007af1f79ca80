#include "tests/workloads/report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/workloads/population.h"

namespace mempulse {
namespace {

WorkloadReport TwoTiers() {
  WorkloadReport report;
  report.pid = 7;
  report.monotonic_nanos = 5'000'000'000;
  report.seconds = 2;
  report.tiers = {{"hot", kFlatOut, 0x7fffffffe000, 4, 100, 0, 60, 50}, {"cool", 5, 0x1000, 8, 10, 3, 5, 5}};
  return report;
}

TEST(WorkloadReportTest, JsonHoldsEveryNumberInFull) {
  const auto json = nlohmann::json::parse(ReportJson(TwoTiers()));
  EXPECT_EQ(json["pid"], 7);
  EXPECT_EQ(json["monotonic_nanos"], 5'000'000'000);
  EXPECT_TRUE(json["tiers"][0]["nominal_hertz"].is_null());
  EXPECT_EQ(json["tiers"][0]["address"], 0x7fffffffe000);
  EXPECT_EQ(json["tiers"][1]["missed"], 3);
  EXPECT_EQ(json["tiers"][1]["hertz_last"], 5.0);
}

TEST(WorkloadReportTest, TableHasOneLinePerTier) {
  EXPECT_THAT(ReportTable(TwoTiers()), testing::ContainsRegex("cool +1000 +8 +5.000 +5.000 +3\n"));
}

TEST(WorkloadReportTest, ReplaceFileSaysWhichFileFailed) {
  const absl::Status status = ReplaceFile("/nonexistent-folder/report.json", "{}");
  EXPECT_THAT(std::string(status.message()), testing::HasSubstr("/nonexistent-folder/report.json"));
}

}  // namespace
}  // namespace mempulse
