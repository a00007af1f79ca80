#include "exporter/web/request_head.h"

#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"

namespace mempulse {
namespace {

RequestHead Parse(absl::string_view line, absl::string_view headers = "Host: x\r\n") {
  return ParseRequestHead(absl::StrCat(line, "\r\n", headers, "\r\n"));
}

TEST(RequestHead, ReadsWhatIsNeeded) {
  const std::string text =
      "GET /metrics?collect[]=pages HTTP/1.1\r\nHost: x\r\nACCEPT-encoding:  gzip \r\n\r\nGET";
  const RequestHead head = ParseRequestHead(text);
  ASSERT_EQ(head.state, RequestHead::kWhole);
  EXPECT_EQ(head.request.method, "GET");
  EXPECT_EQ(head.request.path, "/metrics");
  EXPECT_EQ(head.request.query, "collect[]=pages");
  EXPECT_EQ(head.request.accept_encoding, "gzip");
  EXPECT_EQ(head.bytes, text.size() - 3);
  EXPECT_TRUE(head.keep_alive);
  EXPECT_FALSE(head.has_body);
}

TEST(RequestHead, WaitsForTheEnd) {
  for (const char* part :
       {"", "GET", "GET / HTTP/1.1\r\n", "GET / HTTP/1.1\r\nHost: x\r\n\r", "GET / HTTP/1.1\n\n"}) {
    EXPECT_EQ(ParseRequestHead(part).state, RequestHead::kIncomplete) << part;
  }
}

TEST(RequestHead, KeepAliveByVersionAndWish) {
  EXPECT_FALSE(Parse("GET / HTTP/1.0", "").keep_alive);
  EXPECT_TRUE(Parse("GET / HTTP/1.0", "Connection: Keep-Alive\r\n").keep_alive);
  EXPECT_FALSE(Parse("GET / HTTP/1.1", "Host: x\r\nConnection: close\r\n").keep_alive);
}

TEST(RequestHead, Bodies) {
  EXPECT_TRUE(Parse("POST / HTTP/1.1", "Host: x\r\nContent-Length: 1\r\n").has_body);
  EXPECT_TRUE(Parse("POST / HTTP/1.1", "Host: x\r\nTransfer-Encoding: chunked\r\n").has_body);
  EXPECT_FALSE(Parse("POST / HTTP/1.1", "Host: x\r\nContent-Length: 0\r\n").has_body);
}

TEST(RequestHead, AbsoluteTargets) {
  EXPECT_EQ(Parse("GET http://host:1/metrics?a HTTP/1.1").request.path, "/metrics");
  EXPECT_EQ(Parse("GET http://host HTTP/1.1").request.path, "/");
}

TEST(RequestHead, RefusesWhatIsMalformed) {
  for (const char* line :
       {"GET /", "GET  / HTTP/1.1", "GET / HTTP/1.1 ", "G@T / HTTP/1.1", "GET metrics HTTP/1.1",
        "GET /\x01 HTTP/1.1", " GET / HTTP/1.1", "GET / http/1.1", "CONNECT a:1 HTTP/1.1"}) {
    EXPECT_EQ(Parse(line).status, 400) << line;
  }
  for (const char* headers :
       {"", "Host: x\r\nHost: y\r\n", "Host : x\r\n", "Host: x\r\n folded\r\n", "Host: x\r\nbad\r\n",
        "Host: x\r\nContent-Length: -1\r\n", "Host: x\r\nContent-Length: 1, 1\r\n",
        "Host: x\r\nContent-Length: 1\r\nContent-Length: 1\r\n",
        "Host: x\r\nContent-Length: 99999999999999999999\r\n", "Host: x\ny: z\r\n"}) {
    EXPECT_EQ(Parse("GET / HTTP/1.1", headers).status, 400) << headers;
  }
  EXPECT_EQ(ParseRequestHead(absl::string_view("GET /\0 HTTP/1.1\r\n\r\n", 21)).status, 400);
  EXPECT_EQ(Parse("GET / HTTP/2.0").status, 505);
}

TEST(RequestHead, IsBounded) {
  EXPECT_EQ(ParseRequestHead(std::string(kMostHeadBytes, 'a')).status, 413);
  EXPECT_EQ(Parse("GET / HTTP/1.1", absl::StrCat("Host: x\r\nA: ", std::string(kMostHeadBytes, 'a'), "\r\n"))
                .status,
            413);
  std::string many = "Host: x\r\n";
  for (int i = 0; i < kMostHeaders; ++i) many += "a: b\r\n";
  EXPECT_EQ(Parse("GET / HTTP/1.1", many).status, 413);
}

}  // namespace
}  // namespace mempulse
