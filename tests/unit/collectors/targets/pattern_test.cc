#include "collectors/targets/pattern.h"

#include <gtest/gtest.h>

#include <chrono>

namespace mempulse {
namespace {

bool IsFound(const std::string& expression, const std::string& text) {
  const absl::StatusOr<Pattern> pattern = Pattern::Create(expression);
  EXPECT_TRUE(pattern.ok()) << pattern.status();
  return pattern.ok() && pattern->IsFoundIn(text);
}

TEST(PatternTest, SearchesAnywhereInTheText) {
  EXPECT_TRUE(IsFound("b+c", "abbbcd"));
  EXPECT_FALSE(IsFound("^b", "abc"));
  EXPECT_TRUE(IsFound("a.c$", "a\nc"));
  EXPECT_TRUE(IsFound("", ""));
  EXPECT_TRUE(IsFound("(java|python3) .*--port[= ]80[0-9]{2}", "python3 -m x --port=8080"));
  EXPECT_TRUE(IsFound("\\.jar", "java -jar x.jar"));
  EXPECT_FALSE(IsFound("\\.jar", "java -jar xjar"));
  EXPECT_TRUE(IsFound("x", "\xff\xfe x \x80"));
}

TEST(PatternTest, RefusesWhatDoesNotCompile) {
  for (const std::string& expression : {std::string("("), std::string("[a"), std::string("a{2,1}"),
                                        std::string("\\"), std::string("a\0b", 3)}) {
    EXPECT_EQ(Pattern::Create(expression).status().code(), absl::StatusCode::kInvalidArgument) << expression;
  }
}

TEST(PatternTest, RefusesBackReferences) {
  EXPECT_FALSE(Pattern::Create("(a*)\\1").ok());
  EXPECT_TRUE(Pattern::Create("a\\\\1").ok());
}

TEST(PatternTest, NestedRepetitionTakesNoExponentialTime) {
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_FALSE(IsFound("^(a|aa|a*)*b$", std::string(4096, 'a')));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(5));
}

}  // namespace
}  // namespace mempulse
