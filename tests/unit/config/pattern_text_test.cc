#include "config/pattern_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace mempulse {
namespace {

using ::testing::HasSubstr;

std::string Refusal(absl::string_view text) { return std::string(CheckPatternText(text).message()); }

TEST(PatternTextTest, TakesExtendedExpressions) {
  for (const char* text :
       {"redis-server .*:6379", "^/usr/bin/(a|b)+$", "[[:digit:]]{1,3}", "[^]a]", "[]]x", "a\\.b",
        "\\bword\\b", "\\w+\\s", "[\\d]", "a{0}", "(ab?)*", "--(a|b|c)=.+ .+ .+ .+ .+ .+ .+"}) {
    EXPECT_EQ(CheckPatternText(text), absl::OkStatus()) << text;
  }
}

TEST(PatternTextTest, RefusesWhatDoesNotCompile) {
  for (const char* text : {"(", "a)(", "[a", "[z-a]", "a{2", "a\\", "[[:nonsense:]]"}) {
    EXPECT_THAT(Refusal(text), HasSubstr("is no regular expression: ")) << text;
  }
}

TEST(PatternTextTest, RefusesEscapesThatWouldMeanSomethingElse) {
  EXPECT_THAT(Refusal("x=\\d"), HasSubstr("holds \\d, which POSIX extended expressions do not know"));
  EXPECT_THAT(Refusal("(a)\\1"), HasSubstr("a back-reference, which is not taken"));
  EXPECT_EQ(CheckPatternText("\\\\d"), absl::OkStatus());
}

TEST(PatternTextTest, RefusesWhatUnfoldsWithoutEnd) {
  std::string doubled = std::string(14, '(') + "a";
  for (int i = 0; i < 14; ++i) doubled += "+)";  // each "+" copies what it repeats
  const std::string deep = std::string(33, '(') + "a" + std::string(33, ')');
  for (const std::string& text :
       {std::string("a{32767}"), std::string("((a{99}){99}){99}"), std::string("a{99}{99}"), doubled, deep}) {
    EXPECT_THAT(Refusal(text), HasSubstr("is too large a regular expression")) << text;
  }
  EXPECT_EQ(CheckPatternText("(a{50}b){50}"), absl::OkStatus());
}

}  // namespace
}  // namespace mempulse
