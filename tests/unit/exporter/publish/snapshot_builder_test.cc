#include "exporter/publish/snapshot_builder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "exporter/publish/catalogue.h"
#include "tests/unit/exporter/publish/report_fixture.h"

namespace mempulse {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

SnapshotOptions FixtureOptions() {
  SnapshotOptions options;
  options.build = {"0.1.0", "abcdef0", "g++ 12.2.0"};
  return options;
}

OwnState FixtureOwn() {
  OwnState own;
  own.process = ProcessUsage{12.25, 24 << 20, 900 << 20, 40, 1024, 1'699'990'000.5, 70};
  own.http.requests = {{{"metrics", 200}, 12}, {{"other", 404}, 1}};
  own.http.refused = {3, 1};
  own.offers = OfferCounts{{{"accepted", 5}, {"garbage", 2}}, 4};
  return own;
}

std::string BuildText(const RoundReport& report) {
  return SnapshotBuilder(FixtureOptions()).Build(report, FixtureOwn())->text;
}

std::string GoldenPath(const std::string& name) {
  return absl::StrCat(MEMPULSE_SOURCE_DIR, "/tests/golden/", name);
}

void ExpectGolden(const std::string& name, const std::string& text) {
  if (std::getenv("MEMPULSE_UPDATE_GOLDEN") != nullptr) std::ofstream(GoldenPath(name)) << text;
  std::stringstream golden;
  golden << std::ifstream(GoldenPath(name)).rdbuf();
  EXPECT_EQ(text, golden.str()) << "when the change is wanted: MEMPULSE_UPDATE_GOLDEN=1 ./publish_test";
}

std::string Gunzip(const std::string& packed) {
  z_stream stream = {};
  EXPECT_EQ(inflateInit2(&stream, MAX_WBITS + 16), Z_OK);
  std::string out(1 << 22, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
  stream.avail_in = static_cast<uInt>(packed.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  EXPECT_EQ(inflate(&stream, Z_FINISH), Z_STREAM_END);
  out.resize(stream.total_out);
  inflateEnd(&stream);
  return out;
}

size_t CountSamples(const std::string& text) {
  size_t samples = 0;
  for (const absl::string_view line : absl::StrSplit(text, '\n', absl::SkipEmpty())) {
    samples += absl::StartsWith(line, "#") ? 0 : 1;
  }
  return samples;
}

TEST(SnapshotGolden, FullRound) { ExpectGolden("full_round.prom", BuildText(FixtureReport())); }

TEST(SnapshotGolden, BeforeTheFirstRound) {
  RoundReport report;
  report.interval = absl::Seconds(15);
  report.own_support = FixtureReport().own_support;
  ExpectGolden("before_first_round.prom", BuildText(report));
}

TEST(SnapshotGolden, NothingWorks) {
  RoundReport report = FixtureReport();
  report.groups.erase(report.groups.begin());
  report.last_reload_ok = false;
  ExpectGolden("nothing_works.prom", BuildText(report));
}

TEST(SnapshotGolden, PromtoolAcceptsEveryPage) {
  if (std::system("promtool --version >/dev/null 2>&1") != 0) GTEST_SKIP() << "promtool is not installed";
  for (const char* name : {"full_round.prom", "before_first_round.prom", "nothing_works.prom"}) {
    FILE* promtool =
        popen(absl::StrCat("promtool check metrics <'", GoldenPath(name), "' 2>&1").c_str(), "r");
    ASSERT_NE(promtool, nullptr);
    std::string output;
    char chunk[4096];
    while (const size_t got = std::fread(chunk, 1, sizeof(chunk), promtool)) output.append(chunk, got);
    EXPECT_EQ(pclose(promtool), 0) << name << "\n" << output;
    EXPECT_EQ(output, "") << name;
  }
}

TEST(SnapshotBuilder, EveryMetricOfTheFullRoundIsDeclaredAndEveryDeclaredOneIsThere) {
  std::set<std::string> shown;
  const std::string text = BuildText(FixtureReport());
  for (const absl::string_view line : absl::StrSplit(text, '\n')) {
    const std::vector<std::string> words = absl::StrSplit(line, ' ');
    if (words.size() > 2 && words[1] == "TYPE") shown.insert(words[2]);
  }
  std::set<std::string> declared;
  for (const MetricSpec& spec : catalogue::kMetrics) declared.insert(spec.name);
  EXPECT_EQ(shown, declared);
}

TEST(SnapshotBuilder, AGroupWithoutAMechanismHasReasonsAndNoFrequencies) {
  const std::string text = BuildText(FixtureReport());
  for (const absl::string_view line : absl::StrSplit(text, '\n')) {
    if (!absl::StrContains(line, "target=\"api\"") || absl::StrContains(line, "_total")) continue;
    EXPECT_FALSE(absl::StrContains(line, "pages")) << line;
    EXPECT_FALSE(absl::StrContains(line, "hertz")) << line;
    EXPECT_FALSE(absl::StrContains(line, "last_sweep")) << line;
  }
  EXPECT_THAT(text, HasSubstr("mempulse_target_tracker_supported{target=\"api\",tracker=\"hashdiff\","
                              "reason=\"other_user\"} 0\n"));
  EXPECT_THAT(text, Not(HasSubstr("mempulse_tracker_info{target=\"api\"")));
  EXPECT_THAT(text, HasSubstr("mempulse_target_errors_total{target=\"idle\",reason=\"permission\"} 0\n"));
}

TEST(SnapshotBuilder, SumsProcessesAndTakesTheExtremesThatAreNamed) {
  const std::string text = BuildText(FixtureReport());
  EXPECT_THAT(text, HasSubstr("mempulse_tracked_pages{target=\"cache\"} 14600\n"));
  EXPECT_THAT(text, HasSubstr("mempulse_ceiling_pages{target=\"cache\",region_kind=\"heap\"} 12\n"));
  EXPECT_THAT(text, HasSubstr("mempulse_ceiling_hertz{target=\"cache\"} 4000\n"));
  EXPECT_THAT(text, HasSubstr("mempulse_gap_written_pages{target=\"cache\"} 900\n"));
  EXPECT_THAT(text, HasSubstr("mempulse_rung_looks{target=\"cache\",rung=\"20ms\"} 60\n"));
  EXPECT_THAT(text, HasSubstr("mempulse_rung_window_seconds{target=\"cache\",rung=\"20ms\"} 0.0203\n"));
  EXPECT_THAT(text, HasSubstr("mempulse_rung_page_ratio{target=\"cache\",rung=\"250us\"} 0.25\n"));
  EXPECT_THAT(text, HasSubstr("mempulse_tracker_info{target=\"cache\",tracker=\"hashdiff\"} 1\n"));
}

TEST(SnapshotBuilder, NoAddressPidOrInodeLeavesInALabel) {
  const std::string text = BuildText(FixtureReport());
  for (const char* secret : {"7f00", "5555", "4321", "987654", "=\"77\""})
    EXPECT_THAT(text, Not(HasSubstr(secret)));
}

TEST(SnapshotBuilder, HostileMappingNamesStayInOneLabel) {
  EXPECT_THAT(BuildText(FixtureReport()), HasSubstr("object=\"/tmp/a \\\"b\\\"\xEF\xBF\xBD"
                                                    "c\xEF\xBF\xBD\\\\d\""));
}

TEST(SnapshotBuilder, SeriesAreCountedAsAScrapeCountsThem) {
  SnapshotBuilder builder(FixtureOptions());
  const auto snapshot = builder.Build(FixtureReport(), FixtureOwn());
  EXPECT_EQ(snapshot->series, CountSamples(snapshot->text));
  EXPECT_THAT(snapshot->text, HasSubstr(absl::StrCat("\nmempulse_series ", snapshot->series, "\n")));
}

TEST(SnapshotBuilder, TheLimitHoldsAndItsLossesAreCounted) {
  SnapshotOptions options = FixtureOptions();
  options.limits.max_series = 600;
  SnapshotBuilder builder(options);
  const RoundReport report = LargeReport(4, 40);
  const auto first = builder.Build(report, FixtureOwn());
  EXPECT_LE(first->series, 600u);
  EXPECT_EQ(first->series, CountSamples(first->text));
  EXPECT_THAT(first->text, HasSubstr("mempulse_target_success{target=\"group3\"} 1\n"));
  EXPECT_THAT(first->text, Not(HasSubstr("mempulse_series_dropped_total{limit=\"max_series\"} 0\n")));
  const auto again = SnapshotBuilder(options).Build(report, FixtureOwn());
  EXPECT_EQ(first->text, again->text) << "what goes does not depend on chance";
}

TEST(SnapshotBuilder, PartsMakeTheWholeAndGzipHoldsIt) {
  SnapshotBuilder builder(FixtureOptions());
  const auto snapshot = builder.Build(FixtureReport(), FixtureOwn());
  std::string joined;
  for (const Snapshot::Part& part : snapshot->parts) joined += part.text;
  EXPECT_EQ(joined, snapshot->text);
  EXPECT_EQ(Gunzip(snapshot->gzip), snapshot->text);
}

TEST(SnapshotBuilder, WithoutExporterMetrics) {
  SnapshotOptions options = FixtureOptions();
  options.exporter_metrics = false;
  const auto snapshot = SnapshotBuilder(options).Build(FixtureReport(), FixtureOwn());
  EXPECT_THAT(snapshot->text, Not(HasSubstr("process_")));
  EXPECT_THAT(snapshot->text, Not(HasSubstr("mempulse_http_")));
}

}  // namespace
}  // namespace mempulse
