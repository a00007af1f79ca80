#include "config/units.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace mempulse {
namespace {

using ::testing::HasSubstr;

std::string Refusal(const absl::Status& status) { return std::string(status.message()); }

TEST(DurationTextTest, TakesOneNumberAndOneUnit) {
  EXPECT_EQ(*ParseDurationText("250us"), absl::Microseconds(250));
  EXPECT_EQ(*ParseDurationText("20ms"), absl::Milliseconds(20));
  EXPECT_EQ(*ParseDurationText("1.5s"), absl::Milliseconds(1500));
  EXPECT_EQ(*ParseDurationText("2m"), absl::Minutes(2));
  EXPECT_EQ(*ParseDurationText("1h"), absl::Hours(1));
  EXPECT_EQ(*ParseDurationText("100ns"), absl::Nanoseconds(100));
}

TEST(DurationTextTest, AsksForTheUnit) {
  EXPECT_EQ(Refusal(ParseDurationText("20").status()), "\"20\" has no unit; say the unit, e.g. 20ms");
  EXPECT_EQ(Refusal(ParseDurationText("0").status()), "\"0\" has no unit; say the unit, e.g. 0ms");
}

TEST(DurationTextTest, RefusesWhatIsNoDuration) {
  for (const char* text : {"", "ms", "-1s", "+1s", ".5s", "1.s", "1e3s", "inf", " 1s", "1s "}) {
    EXPECT_EQ(ParseDurationText(text).status().code(), absl::StatusCode::kInvalidArgument) << text;
  }
  EXPECT_THAT(Refusal(ParseDurationText("1h30m").status()), HasSubstr("unknown unit"));
  EXPECT_THAT(Refusal(ParseDurationText("20 ms").status()), HasSubstr("directly after the number"));
  EXPECT_THAT(Refusal(ParseDurationText("20MS").status()), HasSubstr("unknown unit"));
}

TEST(DurationTextTest, RefusesWhatDoesNotFit) {
  EXPECT_THAT(Refusal(ParseDurationText("99999999999999999999h").status()), HasSubstr("too long a duration"));
  EXPECT_FALSE(ParseDurationText(std::string(1000, '9') + "h").ok());
  EXPECT_FALSE(ParseDurationText("0." + std::string(1000, '1') + "s").ok());
}

TEST(DurationTextTest, PrintsWhatItReads) {
  for (const char* text : {"250us", "20ms", "1500ms", "1s", "90s", "1m", "24h", "7ns", "0s"}) {
    EXPECT_EQ(DurationText(*ParseDurationText(text)), text);
  }
  EXPECT_EQ(DurationText(absl::Seconds(60)), "1m");
  EXPECT_EQ(DurationText(absl::Microseconds(1000)), "1ms");
}

TEST(RatioTextTest, TakesPercentAndShare) {
  EXPECT_EQ(*ParseRatioText("1%"), 0.01);
  EXPECT_EQ(*ParseRatioText("0.01"), 0.01);
  EXPECT_EQ(*ParseRatioText("12.5%"), 0.125);
  EXPECT_EQ(*ParseRatioText("0"), 0);
  EXPECT_EQ(*ParseRatioText("250%"), 2.5);
}

TEST(RatioTextTest, RefusesWhatIsNoShare) {
  for (const char* text : {"", "%", "1 %", "-1%", "1e-2", "nan", "inf", "0x1", ".5", "1%%", "1,5%"}) {
    EXPECT_EQ(ParseRatioText(text).status().code(), absl::StatusCode::kInvalidArgument) << text;
  }
}

TEST(RatioTextTest, PrintsPercent) {
  EXPECT_EQ(RatioText(0.01), "1%");
  EXPECT_EQ(RatioText(0.25), "25%");
  EXPECT_EQ(RatioText(0), "0%");
  EXPECT_EQ(RatioText(0.005), "0.5%");
}

TEST(BytesTextTest, TakesBinaryUnits) {
  EXPECT_EQ(*ParseBytesText("4096"), 4096u);
  EXPECT_EQ(*ParseBytesText("7B"), 7u);
  EXPECT_EQ(*ParseBytesText("2KiB"), 2048u);
  EXPECT_EQ(*ParseBytesText("64MiB"), 64u << 20);
  EXPECT_EQ(*ParseBytesText("3GiB"), uint64_t{3} << 30);
  EXPECT_EQ(*ParseBytesText("1TiB"), uint64_t{1} << 40);
  EXPECT_EQ(*ParseBytesText("18446744073709551615"), ~uint64_t{0});
}

TEST(BytesTextTest, RefusesDecimalUnitsFractionsAndOverflow) {
  for (const char* text :
       {"", "MiB", "64MB", "64M", "64mib", "1.5MiB", "-1", "64 MiB", "18446744073709551616", "16777216TiB"}) {
    EXPECT_EQ(ParseBytesText(text).status().code(), absl::StatusCode::kInvalidArgument) << text;
  }
  EXPECT_THAT(Refusal(ParseBytesText("64MB").status()), HasSubstr("units are B, KiB, MiB"));
}

}  // namespace
}  // namespace mempulse
