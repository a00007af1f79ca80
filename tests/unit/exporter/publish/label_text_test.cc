#include "exporter/publish/label_text.h"

#include <gtest/gtest.h>

#include <string>

#include "config/utf8_text.h"

namespace mempulse {
namespace {

TEST(LabelText, LeavesGoodTextAlone) {
  EXPECT_EQ(LabelValue("/usr/lib/libfoo.so.1"), "/usr/lib/libfoo.so.1");
  EXPECT_EQ(LabelValue("naïve \"quoted\" \\ text"), "naïve \"quoted\" \\ text");
  EXPECT_EQ(LabelValue(""), "");
}

TEST(LabelText, ReplacesBadBytesAndControlCharacters) {
  EXPECT_EQ(RepairText("a\xff"
                       "b"),
            "a\xEF\xBF\xBD"
            "b");
  EXPECT_EQ(RepairText("a\nb\tc"),
            "a\xEF\xBF\xBD"
            "b\xEF\xBF\xBD"
            "c");
  EXPECT_EQ(RepairText(std::string("a\0b", 3)),
            "a\xEF\xBF\xBD"
            "b");
  EXPECT_EQ(RepairText("cut \xe2\x82"), "cut \xEF\xBF\xBD\xEF\xBF\xBD");
}

TEST(LabelText, KeepsAValueOfExactlyTheLimit) {
  EXPECT_EQ(LabelValue(std::string(kLabelBytes, 'x')), std::string(kLabelBytes, 'x'));
}

TEST(LabelText, CutsBetweenCharactersAndTellsLongValuesApart) {
  for (size_t shift = 0; shift < 4; ++shift) {
    std::string text(shift, 'a');
    for (int i = 0; i < 60; ++i) text += "€";
    const std::string one = LabelValue(text + "1");
    const std::string two = LabelValue(text + "2");
    EXPECT_LE(one.size(), kLabelBytes);
    EXPECT_GT(one.size(), kLabelBytes - 4);
    EXPECT_EQ(FindBadByte(one), one.size());
    EXPECT_NE(one, two);
  }
}

TEST(LabelText, HashIsTheSameEverywhere) {
  EXPECT_EQ(HashDigits("mempulse", 12), HashDigits("mempulse", 16).substr(0, 12));
}

}  // namespace
}  // namespace mempulse
