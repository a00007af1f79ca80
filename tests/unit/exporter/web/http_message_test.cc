#include "exporter/web/http_message.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace mempulse {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(HttpMessage, GzipByQuality) {
  EXPECT_TRUE(AcceptsGzip("gzip"));
  EXPECT_TRUE(AcceptsGzip("deflate, GZIP;q=0.5"));
  EXPECT_TRUE(AcceptsGzip("x-gzip"));
  EXPECT_TRUE(AcceptsGzip("*"));
  EXPECT_TRUE(AcceptsGzip("identity;q=0, *;q=0.1"));
  EXPECT_FALSE(AcceptsGzip(""));
  EXPECT_FALSE(AcceptsGzip("identity"));
  EXPECT_FALSE(AcceptsGzip("gzip;q=0"));
  EXPECT_FALSE(AcceptsGzip("*, gzip; q=0.0"));
  EXPECT_FALSE(AcceptsGzip("gzip;q=many"));
  EXPECT_FALSE(AcceptsGzip("gzipped"));
}

TEST(HttpMessage, SelectionOfGroups) {
  const absl::StatusOr<Selection> plain = ParseSelection("collect[]=pages&x=1&collect%5B%5d=targets");
  ASSERT_TRUE(plain.ok());
  EXPECT_THAT(plain->collect, ElementsAre("pages", "targets"));
  const absl::StatusOr<Selection> none = ParseSelection("");
  ASSERT_TRUE(none.ok());
  EXPECT_TRUE(none->empty());
}

TEST(HttpMessage, SelectionsThatAreRefused) {
  EXPECT_FALSE(ParseSelection("collect[]=a&exclude[]=b").ok());
  EXPECT_FALSE(ParseSelection("collect[]=%zz").ok());
  EXPECT_FALSE(ParseSelection("collect[]=%2").ok());
  std::string many;
  for (int i = 0; i < 65; ++i) many += "collect[]=pages&";
  EXPECT_FALSE(ParseSelection(many).ok());
}

TEST(HttpMessage, HeadOfAReply) {
  HttpReply reply = TextReply(405, "no");
  reply.headers.emplace_back("Allow", "GET, HEAD");
  const std::string head = RenderHead(reply, true);
  EXPECT_THAT(head, ::testing::StartsWith("HTTP/1.1 405 Method Not Allowed\r\n"));
  EXPECT_THAT(head, ::testing::EndsWith("\r\n\r\n"));
  for (const char* line :
       {"Content-Length: 3\r\n", "X-Content-Type-Options: nosniff\r\n", "Cache-Control: no-store\r\n",
        "Connection: keep-alive\r\n", "Allow: GET, HEAD\r\n"}) {
    EXPECT_THAT(head, HasSubstr(line));
  }
}

TEST(HttpMessage, Html) {
  EXPECT_EQ(EscapeHtml("<a href=\"x\">&'"), "&lt;a href=&quot;x&quot;&gt;&amp;&#39;");
}

}  // namespace
}  // namespace mempulse
