#include "exporter/web/http_server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/synchronization/notification.h"
#include "tests/unit/exporter/web/raw_client.h"

namespace mempulse {
namespace {

using ::testing::HasSubstr;
using Clock = std::chrono::steady_clock;

double SecondsSince(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

std::shared_ptr<const Snapshot> SnapshotOf(size_t bytes) {
  auto snapshot = std::make_shared<Snapshot>();
  snapshot->text = std::string(bytes - 1, 'x') + "\n";
  snapshot->gzip = "packed";
  snapshot->targets_json = "{}\n";
  snapshot->parts = {{"pages", snapshot->text}};
  return snapshot;
}

std::unique_ptr<HttpServer> Serve(WebOptions options, size_t bytes = 1000) {
  const std::shared_ptr<const Snapshot> snapshot = SnapshotOf(bytes);
  absl::StatusOr<std::unique_ptr<HttpServer>> server =
      HttpServer::Create(std::move(options), {[snapshot] { return snapshot; }, [] { return Health(); },
                                              [] {
                                                return Readiness{false, "no round yet"};
                                              },
                                              [] { return absl::InvalidArgumentError("bad key"); }});
  EXPECT_TRUE(server.ok()) << server.status();
  return server.ok() ? *std::move(server) : nullptr;
}

WebOptions AnyPort() {
  WebOptions options;
  options.listen_addresses = {"127.0.0.1:0"};
  return options;
}

TEST(HttpServer, AnswersEveryPath) {
  const std::unique_ptr<HttpServer> server = Serve(AnyPort());
  const int port = server->ports().at(0);
  const std::string metrics = Get(port, "/metrics");
  EXPECT_EQ(StatusOf(metrics), 200);
  EXPECT_EQ(BodyOf(metrics).size(), 1000u);
  EXPECT_EQ(HeaderOf(metrics, "Content-Type"), "text/plain; version=0.0.4; charset=utf-8");
  EXPECT_EQ(HeaderOf(Get(port, "/metrics", "Accept-Encoding: gzip\r\n"), "Content-Encoding"), "gzip");
  EXPECT_EQ(StatusOf(Get(port, "/")), 200);
  EXPECT_EQ(StatusOf(Get(port, "/-/healthy")), 200);
  EXPECT_THAT(Get(port, "/-/ready"), HasSubstr("no round yet"));
  EXPECT_EQ(HeaderOf(Get(port, "/api/v1/targets"), "Content-Type"), "application/json");
  EXPECT_EQ(StatusOf(Get(port, "/nothing")), 404);
  EXPECT_EQ(StatusOf(Get(port, "/metrics?collect[]=nosuch")), 400);
  EXPECT_EQ(server->counts().requests.at({"metrics", 200}), 2u);
}

TEST(HttpServer, EveryReplyForbidsSniffing) {
  const std::unique_ptr<HttpServer> server = Serve(AnyPort());
  const int port = server->ports().at(0);
  for (const char* request : {"GET / HTTP/1.0\r\n\r\n", "GET /x HTTP/1.0\r\n\r\n", "PUT / HTTP/1.0\r\n\r\n",
                              "BREW /pot HTTP/1.0\r\n\r\n", "GET / HTTP/3.7\r\n\r\n", "nonsense\r\n\r\n"}) {
    EXPECT_EQ(HeaderOf(Fetch(port, request), "X-Content-Type-Options"), "nosniff") << request;
  }
}

TEST(HttpServer, HeadHasTheLengthAndNoBody) {
  const std::unique_ptr<HttpServer> server = Serve(AnyPort());
  for (const char* path : {"/metrics", "/", "/-/healthy", "/api/v1/targets", "/nothing"}) {
    const std::string reply =
        Fetch(server->ports().at(0),
              absl::StrCat("HEAD ", path, " HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"));
    EXPECT_NE(HeaderOf(reply, "Content-Length"), "0") << path;
    EXPECT_NE(HeaderOf(reply, "Content-Length"), "") << path;
    EXPECT_EQ(BodyOf(reply), "") << path;
  }
}

TEST(HttpServer, PostReload) {
  const std::unique_ptr<HttpServer> server = Serve(AnyPort());
  const int port = server->ports().at(0);
  const std::string reply = Fetch(port, "POST /-/reload HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n");
  EXPECT_EQ(StatusOf(reply), 400);
  EXPECT_EQ(BodyOf(reply), "bad key\n");
  EXPECT_EQ(HeaderOf(Get(port, "/-/reload"), "Allow"), "POST");
}

TEST(HttpServer, KeepsConnectionsAlive) {
  const std::unique_ptr<HttpServer> server = Serve(AnyPort());
  RawClient client(server->ports().at(0));
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(client.Send("GET /-/healthy HTTP/1.1\r\nHost: x\r\n\r\n"));
    const std::string reply = client.Receive();
    EXPECT_EQ(StatusOf(reply), 200);
    EXPECT_EQ(HeaderOf(reply, "Connection"), "keep-alive");
  }
}

TEST(HttpServer, BothFamiliesOnOnePort) {
  WebOptions options;
  options.listen_addresses = {":0"};
  const std::unique_ptr<HttpServer> server = Serve(options);
  const int port = server->ports().at(0);
  EXPECT_EQ(StatusOf(Get(port, "/-/healthy")), 200);
  if (!RawClient(port, "::1").connected()) GTEST_SKIP() << "no IPv6 loopback here";
  EXPECT_EQ(StatusOf(Fetch(port, "GET /-/healthy HTTP/1.0\r\n\r\n", "::1")), 200);
}

TEST(HttpServer, ATakenPortIsNamed) {
  const std::unique_ptr<HttpServer> server = Serve(AnyPort());
  WebOptions options;
  options.listen_addresses = {absl::StrCat("127.0.0.1:", server->ports().at(0))};
  const absl::Status status = HttpServer::Create(options, {}).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(std::string(status.message()), HasSubstr(options.listen_addresses[0]));
  EXPECT_THAT(std::string(status.message()), HasSubstr("Address already in use"));
}

TEST(HttpServer, BadAddressesAreNamed) {
  for (const char* address : {"nonsense", "127.0.0.1:99999", "[::1:80", "1.2.3.4.5:1", "127.0.0.1:80s"}) {
    WebOptions options;
    options.listen_addresses = {address};
    const absl::Status status = HttpServer::Create(options, {}).status();
    EXPECT_FALSE(status.ok()) << address;
    EXPECT_THAT(std::string(status.message()), HasSubstr(address));
  }
}

TEST(HttpServer, HostileBytesDoNoHarm) {
  const std::unique_ptr<HttpServer> server = Serve(AnyPort());
  const int port = server->ports().at(0);
  const std::string many_headers = [] {
    std::string text = "GET / HTTP/1.1\r\n";
    for (int i = 0; i < 200; ++i) absl::StrAppend(&text, "X", i, ": y\r\n");
    return text + "\r\n";
  }();
  const std::string bodies[] = {
      std::string(100'000, 'A'),
      "GET / HTTP/1.1\r\nX: " + std::string(50'000, 'b') + "\r\n\r\n",
      "GET /" + std::string(20'000, '/') + " HTTP/1.1\r\n\r\n",
      std::string("GET /metrics\0 HTTP/1.1\r\n\r\n", 26),
      std::string(64, '\0'),
      "GET /metrics?" + std::string(4'000, '%') + " HTTP/1.1\r\nHost: x\r\n\r\n",
      "GET /%00%ff/../../etc/passwd HTTP/1.1\r\nHost: x\r\n\r\n",
      "GET http://[::1/ HTTP/1.1\r\n\r\n",
      "GET * HTTP/1.1\r\n\r\n",
      "OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n",
      "POST /-/reload HTTP/1.1\r\nHost: x\r\nContent-Length: -5\r\n\r\n",
      "POST /-/reload HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999999999999\r\n\r\n",
      "POST /-/reload HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\n",
      "GET / HTTP/1.1\nHost: x\n\n",
      "GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n",
      many_headers,
      "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
  };
  for (const std::string& body : bodies) {
    RawClient client(port);
    client.Send(body);
    const std::string reply = client.Receive(0.2);
    EXPECT_NE(StatusOf(reply), 500) << body.substr(0, 60);
  }
  EXPECT_EQ(StatusOf(Get(port, "/-/healthy")), 200);
}

TEST(HttpServer, AnAddressHoldsAtMostItsLimit) {
  WebOptions options = AnyPort();
  options.max_connections_per_address = 8;
  const std::unique_ptr<HttpServer> server = Serve(options);
  const int port = server->ports().at(0);
  std::vector<RawClient> clients;
  for (int i = 0; i < 12; ++i) {
    clients.emplace_back(port);
    clients.back().Send("GET /");
  }
  int closed = 0;
  for (RawClient& client : clients) closed += client.WaitForClose(0.05) ? 1 : 0;
  EXPECT_EQ(closed, 4);
  EXPECT_EQ(server->counts().refused[0], 4u);
  EXPECT_EQ(StatusOf(Fetch(port, "GET /-/healthy HTTP/1.0\r\n\r\n", "127.0.0.2")), 200);
}

TEST(HttpServer, WhoComesBackAtOnceIsNotTurnedAway) {
  WebOptions options = AnyPort();
  options.max_connections_per_address = 1;
  const std::unique_ptr<HttpServer> server = Serve(options);
  const int port = server->ports().at(0);
  int answered = 0;
  for (int i = 0; i < 2000; ++i) {
    answered += StatusOf(Fetch(port, "GET /-/healthy HTTP/1.0\r\n\r\n", "127.0.0.2")) == 200 ? 1 : 0;
  }
  EXPECT_EQ(answered, 2000);
}

TEST(HttpServer, SlowClientsOfOneAddressDoNotKeepAnotherWaiting) {
  const std::unique_ptr<HttpServer> server = Serve(AnyPort(), 200'000);
  const int port = server->ports().at(0);
  std::atomic<bool> stop = false;
  std::thread drip([port, &stop] {  // 100 connections, one byte a second each, reopened when they are closed
    std::vector<RawClient> clients;
    for (int tick = 0; !stop; ++tick) {
      if (clients.size() < 100) {
        clients.emplace_back(port);
      } else {
        RawClient& client = clients[static_cast<size_t>(tick % 100)];
        if (!client.Send("G")) {
          client.~RawClient();
          new (&client) RawClient(port);
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
      }
    }
  });
  double slowest = 0;
  const Clock::time_point start = Clock::now();
  while (SecondsSince(start) < 5) {
    const Clock::time_point asked = Clock::now();
    EXPECT_EQ(StatusOf(Fetch(port, "GET /metrics HTTP/1.0\r\n\r\n", "127.0.0.2")), 200);
    EXPECT_EQ(StatusOf(Fetch(port, "GET /-/healthy HTTP/1.0\r\n\r\n", "127.0.0.2")), 200);
    slowest = std::max(slowest, SecondsSince(asked));
  }
  stop = true;
  drip.join();
  RecordProperty("slowest_ms", static_cast<int>(slowest * 1000));
  EXPECT_LT(slowest, 1);
  EXPECT_GT(server->counts().refused[0], 0u);
}

TEST(HttpServer, ABodyThatDripsDoesNotHoldTheConnection) {
  const std::unique_ptr<HttpServer> server = Serve(AnyPort());
  RawClient client(server->ports().at(0));
  client.Send("POST /-/reload HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\nx");
  EXPECT_EQ(StatusOf(client.Receive(1)), 400);
  EXPECT_TRUE(client.WaitForClose(1));
}

TEST(HttpServer, AReloadThatTakesLongKeepsNobodyElseWaiting) {
  absl::Notification running;
  absl::Notification finish;
  absl::StatusOr<std::unique_ptr<HttpServer>> server = HttpServer::Create(
      AnyPort(), {[] { return SnapshotOf(10); }, [] { return Health(); }, [] { return Readiness(); },
                  [&running, &finish] {
                    running.Notify();
                    finish.WaitForNotification();
                    return absl::OkStatus();
                  }});
  ASSERT_TRUE(server.ok());
  const int port = (*server)->ports().at(0);
  const std::string reload = "POST /-/reload HTTP/1.1\r\nHost: x\r\n\r\n";
  RawClient first(port);
  first.Send(reload);
  running.WaitForNotification();
  EXPECT_EQ(StatusOf(Get(port, "/-/healthy")), 200);
  EXPECT_EQ(StatusOf(Fetch(port, reload)), 503);
  finish.Notify();
  EXPECT_EQ(StatusOf(first.Receive()), 200);
}

TEST(HttpServer, AnswersRequestsThatComeTogether) {
  const std::unique_ptr<HttpServer> server = Serve(AnyPort());
  RawClient client(server->ports().at(0));
  client.Send(
      "GET /-/healthy HTTP/1.1\r\nHost: x\r\n\r\nGET /nothing HTTP/1.1\r\nHost: x\r\nConnection: "
      "close\r\n\r\n");
  std::string both = client.Receive();
  both += client.Receive(1);
  EXPECT_THAT(both, HasSubstr(" 200 OK"));
  EXPECT_THAT(both, HasSubstr(" 404 Not Found"));
}

TEST(HttpServer, StopsAtOnceWhileClientsHang) {
  std::unique_ptr<HttpServer> server = Serve(AnyPort(), 20'000'000);
  const int port = server->ports().at(0);
  std::vector<RawClient> clients;
  for (int i = 0; i < 20; ++i) {
    clients.emplace_back(port);
    // Every other one asks for 20 MB and reads none of it.
    clients.back().Send(i % 2 == 0 ? "GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n" : "GET /met");
  }
  const std::string reply = clients[0].Receive(0.05);
  const Clock::time_point start = Clock::now();
  server->Stop();
  EXPECT_LT(SecondsSince(start), 1);
  server->Stop();
  EXPECT_FALSE(RawClient(port).connected());
}

}  // namespace
}  // namespace mempulse
