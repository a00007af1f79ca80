#include "collectors/targets/glob.h"

#include <gtest/gtest.h>

#include <chrono>

namespace mempulse {
namespace {

bool Matches(absl::string_view pattern, absl::string_view text) {
  const absl::StatusOr<Glob> glob = Glob::Create(pattern);
  EXPECT_TRUE(glob.ok()) << glob.status();
  return glob.ok() && glob->Matches(text);
}

struct Case {
  const char* pattern;
  const char* text;
  bool matches;
};

constexpr Case kCases[] = {
    {"", "", true},
    {"", "a", false},
    {"/a", "/a", true},
    {"/a", "/ab", false},
    {"/a", "x/a", false},
    {"*", "", true},
    {"*", "abc", true},
    {"*", "a/c", false},
    {"/*.service", "/nginx.service", true},
    {"/*.service", "/a/nginx.service", false},
    {"/*/*", "/a/b", true},
    {"/*/*", "/a/b/c", false},
    {"a*b*c", "aXbYbc", true},
    {"a*b*c", "aXbYb", false},
    {"**", "", true},
    {"**", "/a/b/c", true},
    {"/kubepods/**", "/kubepods/burstable/pod1/x", true},
    {"/kubepods/**", "/kubepods", false},
    {"**nginx**", "/system.slice/nginx.service", true},
    {"/a/**/b", "/a/b", true},
    {"/a/**/b", "/a/x/b", true},
    {"/a/**/b", "/a/x/y/b", true},
    {"/a/**/b", "/a/xb", false},
    {"/a/**/b", "/ab", false},
    {"**/b", "b", true},
    {"**/b", "/x/b", true},
    {"**/b", "xb", false},
    {"/a**/b", "/a/b", true},
    {"/a**/b", "/ax/y/b", true},
    {"/a***", "/a/b", true},
    {"/pod?", "/pod1", true},
    {"/pod?", "/pod", false},
    {"?", "/", false},
    {"[abc]", "b", true},
    {"[abc]", "d", false},
    {"[a-c]x", "bx", true},
    {"[a-c]", "d", false},
    {"[!a-c]", "d", true},
    {"[^a-c]", "b", false},
    {"[!a]", "/", false},
    {"[.-0]", "/", false},
    {"[]]", "]", true},
    {"[!]]", "]", false},
    {"[a-]", "-", true},
    {"[\xf0-\xff]", "\xfe", true},
    {"\\*", "*", true},
    {"\\*", "a", false},
    {"\\[a]", "[a]", true},
};

TEST(GlobTest, FollowsTheTable) {
  for (const Case& row : kCases)
    EXPECT_EQ(Matches(row.pattern, row.text), row.matches) << row.pattern << " " << row.text;
}

TEST(GlobTest, RefusesWhatItCannotMean) {
  for (const char* pattern : {"[", "[]", "[!]", "[a", "[a-", "a\\"}) {
    EXPECT_EQ(Glob::Create(pattern).status().code(), absl::StatusCode::kInvalidArgument) << pattern;
  }
  EXPECT_EQ(Glob::Create("/a[b").status().message(), "glob \"/a[b\" has an open [");
  EXPECT_FALSE(Glob::Create(std::string(1025, 'a')).ok());
}

TEST(GlobTest, ManyStarsTakeNoExponentialTime) {
  std::string pattern;
  for (int i = 0; i < 200; ++i) pattern += i % 2 == 0 ? "*a" : "**a";
  const std::string text(4096, 'a');
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_FALSE(Matches(pattern + "b", text));
  EXPECT_TRUE(Matches(pattern, text));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(5));
}

}  // namespace
}  // namespace mempulse
