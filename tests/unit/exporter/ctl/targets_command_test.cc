#include "exporter/ctl/targets_command.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "exporter/ctl/http_get.h"

namespace mempulse {
namespace {

using testing::HasSubstr;

TEST(TargetsTableTest, ShowsGroupsProcessesAndRegions) {
  const auto table =
      TargetsTable(R"({"targets":[{"name":"demo","matched":2,"problems":["pid file gone"],"processes":[
      {"pid":7,"comm":"demo","tracker":"writeprotect","swept_at":"2026-01-01T00:00:00+00:00","tracked_pages":9,
       "written_pages":3,"ceiling_pages":1,"ceiling_hertz":50000,"hot_regions":[
         {"address":"0x1000","pages":2,"frequency_hertz":200.4,"state":"measured","region_kind":"heap","region":"[heap]",
          "rungs":[{"window_seconds":0.02,"looks":10,"hits":9}]}]},
      {"pid":8,"comm":"other","tracker":"none","support":[{"tracker":"softdirty","supported":false,"detail":"no bits",
       "remedy":"another kernel"}]}]}]})");
  ASSERT_TRUE(table.ok());
  EXPECT_THAT(*table, HasSubstr("demo: 2 process(es) found, 2 watched"));
  EXPECT_THAT(*table, HasSubstr("pid file gone"));
  EXPECT_THAT(*table, HasSubstr("200 Hz"));
  EXPECT_THAT(*table, HasSubstr("20ms:9/10"));
  EXPECT_THAT(*table, HasSubstr("softdirty refused: no bits; another kernel"));
}

TEST(TargetsTableTest, RefusesWhatIsNotAnAnswer) {
  EXPECT_FALSE(TargetsTable("<html>").ok());
  EXPECT_FALSE(TargetsTable("[]").ok());
  EXPECT_FALSE(TargetsTable(R"({"targets":3})").ok());
}

TEST(HttpGetTest, NamesWhatIsWrongWithAnAddress) {
  EXPECT_TRUE(absl::IsInvalidArgument(HttpGet("ftp://x", "/").status()));
  EXPECT_TRUE(absl::IsInvalidArgument(HttpGet("http://x:abc", "/").status()));
  const auto refused = HttpGet("http://127.0.0.1:1", "/");
  EXPECT_TRUE(absl::IsUnavailable(refused.status()));
  EXPECT_THAT(std::string(refused.status().message()), HasSubstr("http://127.0.0.1:1"));
}

}  // namespace
}  // namespace mempulse
