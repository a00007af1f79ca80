#include "exporter/publish/catalogue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"

namespace mempulse {
namespace {

using catalogue::kMetrics;

TEST(Catalogue, NamesFollowTheRules) {
  std::set<std::string> seen;
  for (const MetricSpec& spec : kMetrics) {
    const absl::string_view name = spec.name;
    EXPECT_TRUE(seen.insert(spec.name).second) << name << " is declared twice";
    EXPECT_TRUE(absl::StartsWith(name, spec.group == MetricGroup::kProcess ? "process_" : "mempulse_"))
        << name;
    EXPECT_EQ(absl::EndsWith(name, "_total"), spec.type == MetricType::kCounter) << name;
    if (*spec.unit != '\0') {
      const std::string suffix = std::string("_") + spec.unit;
      EXPECT_TRUE(absl::EndsWith(name, suffix) || absl::EndsWith(name, suffix + "_total")) << name;
    }
    for (const absl::string_view unwanted :
         {"_ms_", "_us_", "_milliseconds", "_percent", "_age_", "_rate", "_per_"}) {
      EXPECT_FALSE(absl::StrContains(name, unwanted)) << name;
    }
  }
}

TEST(Catalogue, LabelsAreNeverThoseOfThePlatform) {
  const std::set<std::string> reserved = {"instance", "job", "cluster", "region",  "zone",  "service", "env",
                                          "type",     "le",  "pid",     "address", "inode", "quantile"};
  for (const MetricSpec& spec : kMetrics) {
    const std::vector<std::string> labels = absl::StrSplit(spec.labels, ',', absl::SkipEmpty());
    for (const std::string& label : labels) {
      EXPECT_FALSE(reserved.contains(label)) << spec.name << " " << label;
    }
  }
}

TEST(Catalogue, HelpIsOneSentenceThatTheSerializerCanWrite) {
  for (const MetricSpec& spec : kMetrics) {
    const absl::string_view help = spec.help;
    EXPECT_FALSE(help.empty()) << spec.name;
    EXPECT_TRUE(absl::EndsWith(help, ".")) << spec.name;
    EXPECT_EQ(help.find_first_of("\\\n|"), absl::string_view::npos) << spec.name;
  }
}

TEST(Catalogue, TheReferenceListsEveryMetric) {
  const std::string reference = RenderMetricsReference();
  for (const MetricSpec& spec : kMetrics)
    EXPECT_THAT(reference, ::testing::HasSubstr(std::string("`") + spec.name + "`"));
}

}  // namespace
}  // namespace mempulse
