#include "config/utf8_text.h"

#include <gtest/gtest.h>

#include <string>

namespace mempulse {
namespace {

TEST(Utf8TextTest, TakesWellFormedText) {
  for (const char* text : {"", "plain\t\r\n", "caf\xC3\xA9", "\xE2\x82\xAC", "\xF0\x9F\x98\x80",
                           "\xF4\x8F\xBF\xBF", "\xED\x9F\xBF", "\xEE\x80\x80"}) {
    EXPECT_EQ(FindBadByte(text), std::string(text).size()) << text;
  }
}

TEST(Utf8TextTest, RefusesMalformedText) {
  for (const char* bad :
       {"\x80", "\xC0\xAF", "\xC1\xBF", "\xC3", "\xC3(", "\xE0\x9F\xBF", "\xE2\x82", "\xED\xA0\x80",
        "\xF0\x8F\xBF\xBF", "\xF0\x9F\x98", "\xF4\x90\x80\x80", "\xF5\x80\x80\x80", "\xFF"}) {
    EXPECT_EQ(FindBadByte(std::string("ab") + bad), 2u) << bad;
  }
}

TEST(Utf8TextTest, RefusesControlCharacters) {
  EXPECT_EQ(FindBadByte(absl::string_view("a\0b", 3)), 1u);
  EXPECT_EQ(FindBadByte("ab\x1B[0m"), 2u);
  // yaml-cpp would take this byte for the end of the file and silently drop the rest.
  EXPECT_EQ(FindBadByte("a\x04"), 1u);
  EXPECT_EQ(FindBadByte("\x7F"), 0u);
}

}  // namespace
}  // namespace mempulse
