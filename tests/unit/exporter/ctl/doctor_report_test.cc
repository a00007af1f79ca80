#include "exporter/ctl/doctor_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/unit/collectors/pages/access_situations.h"

namespace mempulse {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::string WorkingPoints(const TargetAccess& access) {
  std::string text;
  for (const DoctorRow& row : AccessRows(access)) {
    if (row.works) text += (text.empty() ? "" : " ") + row.name;
    EXPECT_EQ(row.works, row.reason == "ok") << row.name;
    if (!row.works) {
      EXPECT_NE(row.detail, "") << row.name;
      EXPECT_NE(row.remedy, "") << row.name;
    }
  }
  return text;
}

TEST(AccessRowsTest, AccessTable) {
  EXPECT_EQ(WorkingPoints(SameUserNoCapabilities()), "maps smaps pagemap mem clear_refs attach");
  EXPECT_EQ(WorkingPoints(OtherUserTraceOnly()), "maps smaps attach");
  EXPECT_EQ(WorkingPoints(OtherUserTraceAndRead()), "maps smaps pagemap mem attach");
  EXPECT_EQ(WorkingPoints(OtherUserTraceAndOverride()), "maps smaps pagemap mem clear_refs attach");
  EXPECT_EQ(WorkingPoints(OtherUserAdmin()), "maps smaps pagemap mem clear_refs attach frames");
  EXPECT_EQ(WorkingPoints(NotDumpable()), "");
  EXPECT_EQ(WorkingPoints(Yama(1)), "maps smaps pagemap clear_refs");
}

DoctorFacts Facts() {
  DoctorFacts facts;
  facts.kernel.release = "6.1.0-18-amd64";
  facts.kernel.yama_scope = 1;
  facts.page_size_bytes = 4096;
  facts.own = User(999);
  facts.open_files = {1024, 524288};
  facts.locked_memory_bytes = {8 << 20, UINT64_MAX};
  facts.mechanisms = {{TrackerKind::kWriteProtect, false, "kernel", "no PAGEMAP_SCAN", "use Linux 6.7"},
                      {TrackerKind::kSoftDirty, true, "ok", "", ""},
                      {TrackerKind::kHashDiff, true, "ok", "", ""}};
  return facts;
}

DoctorFacts FactsWithTarget() {
  DoctorFacts facts = Facts();
  DoctorFacts::OfTarget target;
  target.process.id.pid = 4711;
  target.process.comm = "re\xffs\n";
  target.access = NotDumpable();
  target.mechanisms = {{TrackerKind::kHashDiff, false, "not_dumpable", "why", "what"}};
  target.cooperative = {TrackerKind::kWriteProtect, false, "no_offer", "no library", "preload it"};
  facts.target = target;
  return facts;
}

TEST(DoctorTableTest, FailingRowsSayWhyAndWhatHelps) {
  const std::string table = DoctorTable(Facts());
  EXPECT_THAT(table, HasSubstr("6.1.0-18-amd64"));
  EXPECT_THAT(table, HasSubstr("kernel.yama.ptrace_scope=1"));
  EXPECT_THAT(table, HasSubstr("kernel.perf_event_paranoid=absent"));
  EXPECT_THAT(table, HasSubstr("writeprotect  no     kernel: no PAGEMAP_SCAN\n"));
  EXPECT_THAT(table, HasSubstr("remedy: use Linux 6.7\n"));
  EXPECT_THAT(table, HasSubstr("softdirty     yes\n"));
  EXPECT_THAT(table, Not(HasSubstr("target")));
}

TEST(DoctorTableTest, ANameCannotBreakTheTable) {
  EXPECT_THAT(DoctorTable(FactsWithTarget()), HasSubstr("target 4711 (re\\xffs\\n): uid 999"));
}

TEST(DoctorTableTest, TheOtherWayInHasARowOfItsOwn) {
  EXPECT_THAT(DoctorTable(FactsWithTarget()), HasSubstr("cooperative   no     no_offer: no library\n"));
}

TEST(DoctorJsonTest, Shape) {
  const nlohmann::ordered_json json = DoctorJson(FactsWithTarget());
  EXPECT_EQ(json["kernel"]["release"], "6.1.0-18-amd64");
  EXPECT_EQ(json["kernel"]["yama_ptrace_scope"], 1);
  EXPECT_TRUE(json["kernel"]["perf_event_paranoid"].is_null());
  EXPECT_EQ(json["user"]["uid"], 999);
  EXPECT_TRUE(json["capabilities"].is_array());
  EXPECT_EQ(json["limits"]["open_files"]["soft"], 1024);
  EXPECT_TRUE(json["limits"]["locked_memory_bytes"]["hard"].is_null());
  ASSERT_EQ(json["mechanisms"].size(), 3u);
  EXPECT_EQ(json["mechanisms"][0]["name"], "writeprotect");
  EXPECT_EQ(json["mechanisms"][0]["works"], false);
  EXPECT_EQ(json["mechanisms"][0]["remedy"], "use Linux 6.7");
  EXPECT_EQ(json["target"]["pid"], 4711);
  EXPECT_EQ(json["target"]["dumpable"], false);
  EXPECT_EQ(json["target"]["access"].size(), 7u);
  EXPECT_EQ(json["target"]["mechanisms"].size(), 1u);
  EXPECT_EQ(json["target"]["cooperative"]["reason"], "no_offer");
  EXPECT_NE(json.dump(), "");  // throws on invalid UTF-8
  EXPECT_FALSE(DoctorJson(Facts()).contains("target"));
}

TEST(DoctorFoundTrackerTest, AsksTheTargetWhereThereIsOne) {
  EXPECT_TRUE(DoctorFoundTracker(Facts()));
  EXPECT_FALSE(DoctorFoundTracker(FactsWithTarget()));
}

}  // namespace
}  // namespace mempulse
