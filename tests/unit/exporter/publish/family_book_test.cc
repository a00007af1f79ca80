#include "exporter/publish/family_book.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace mempulse {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(FamilyBook, WritesLabelsInTheOrderOfTheCatalogue) {
  FamilyBook book;
  book.Add(Metric("mempulse_ceiling_pages"), {"cache", "heap"}, 6);
  EXPECT_THAT(book.Render(MetricGroup::kPages),
              HasSubstr("# TYPE mempulse_ceiling_pages "
                        "gauge\nmempulse_ceiling_pages{target=\"cache\",region_kind=\"heap\"} 6\n"));
  EXPECT_EQ(book.Render(MetricGroup::kTargets), "");
}

TEST(FamilyBook, CumulatesHistograms) {
  FamilyBook book;
  const double bounds[] = {1, 10};
  const uint64_t counts[] = {2, 3, 4};
  book.AddHistogram(Metric("mempulse_page_write_frequency_hertz"), {"t"}, bounds, counts, 99.5);
  EXPECT_EQ(book.series(), 5u);
  const std::string text = book.Render(MetricGroup::kPages);
  EXPECT_THAT(text, HasSubstr("_bucket{target=\"t\",le=\"1\"} 2\n"));
  EXPECT_THAT(text, HasSubstr("_bucket{target=\"t\",le=\"10\"} 5\n"));
  EXPECT_THAT(text, HasSubstr("_bucket{target=\"t\",le=\"+Inf\"} 9\n"));
  EXPECT_THAT(text, HasSubstr("_sum{target=\"t\"} 99.5\n"));
}

TEST(FamilyBook, LeavesOutWhatIsNoNumber) {
  FamilyBook book;
  book.Add(Metric("mempulse_ceiling_hertz"), {"t"}, std::numeric_limits<double>::quiet_NaN());
  EXPECT_EQ(book.series(), 0u);
}

TEST(FamilyBook, ShedsByStageThenRankAndWholeUnits) {
  FamilyBook book;
  book.Add(Metric("mempulse_rounds_total"), {}, 1);
  book.Add(Metric("mempulse_pages_by_frequency"), {"t", "heap", "1_10"}, 1, {Shedding::kBands, 1, "t/heap"});
  for (const auto& [id, hertz] : {std::pair("slow", 10.0), std::pair("fast", 20.0)}) {
    book.Add(Metric("mempulse_region_write_frequency_hertz"), {"t", id}, hertz,
             {Shedding::kRegions, hertz, id});
    book.Add(Metric("mempulse_region_info"), {"t", id, "", "", "", ""}, 1, {Shedding::kRegions, hertz, id});
  }
  EXPECT_EQ(book.series(), 6u);
  EXPECT_EQ(book.Trim(6), 0u);
  EXPECT_EQ(book.Trim(5), 2u);
  EXPECT_THAT(book.Render(MetricGroup::kPages), Not(HasSubstr("slow")));
  EXPECT_THAT(book.Render(MetricGroup::kPages), HasSubstr("fast"));
  EXPECT_EQ(book.Trim(2), 2u);
  EXPECT_THAT(book.Render(MetricGroup::kPages), HasSubstr("1_10"));
  EXPECT_EQ(book.Trim(0), 1u);
  EXPECT_EQ(book.series(), 1u) << "health is never shed";
}

}  // namespace
}  // namespace mempulse
