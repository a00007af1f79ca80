#include "exporter/web/router.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace mempulse {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::shared_ptr<const Snapshot> SmallSnapshot() {
  auto snapshot = std::make_shared<Snapshot>();
  snapshot->parts = {{"pages", "p 1\n"}, {"targets", "t 1\n"}};
  snapshot->text = "p 1\nt 1\n";
  snapshot->gzip = "packed";
  snapshot->targets_json = "{}\n";
  snapshot->round = 3;
  snapshot->build.version = "9.9";
  Snapshot::TargetSummary target;
  target.name = "<script>";
  target.problems = {"a & b"};
  snapshot->targets = {target};
  return snapshot;
}

class RouterTest : public ::testing::Test {
 protected:
  WebHandlers Handlers() {
    return {[this] { return snapshot_; }, [this] { return health_; }, [this] { return readiness_; },
            [this] { return reload_; }};
  }
  HttpReply Ask(const std::string& path, const std::string& query = "", const std::string& method = "GET",
                const std::string& encoding = "") {
    return router_.Answer({method, path, query, encoding});
  }

  std::shared_ptr<const Snapshot> snapshot_ = SmallSnapshot();
  Health health_;
  Readiness readiness_;
  absl::Status reload_;
  Router router_{WebOptions(), Handlers()};
};

TEST_F(RouterTest, Metrics) {
  const HttpReply reply = Ask("/metrics");
  EXPECT_EQ(reply.status, 200);
  EXPECT_EQ(reply.content_type, "text/plain; version=0.0.4; charset=utf-8");
  EXPECT_EQ(*reply.body, "p 1\nt 1\n");
}

TEST_F(RouterTest, MetricsPacked) {
  EXPECT_EQ(*Ask("/metrics", "", "GET", "gzip").body, "packed");
  EXPECT_EQ(*Ask("/metrics", "", "GET", "gzip;q=0").body, "p 1\nt 1\n");
}

TEST_F(RouterTest, MetricsByGroup) {
  EXPECT_EQ(*Ask("/metrics", "collect[]=targets", "GET", "gzip").body, "t 1\n");
  EXPECT_EQ(*Ask("/metrics", "exclude[]=targets").body, "p 1\n");
  EXPECT_EQ(Ask("/metrics", "collect[]=pages&exclude[]=targets").status, 400);
  EXPECT_EQ(Ask("/metrics", "collect[]=").status, 400);
  const HttpReply unknown = Ask("/metrics", "collect[]=nosuch");
  EXPECT_EQ(unknown.status, 400);
  EXPECT_THAT(*unknown.body, HasSubstr("pages, targets"));
}

TEST_F(RouterTest, MetricsBeforeTheFirstSnapshot) {
  snapshot_ = nullptr;
  EXPECT_EQ(Ask("/metrics").status, 503);
  EXPECT_EQ(Ask("/api/v1/targets").status, 503);
  EXPECT_EQ(Ask("/").status, 200);
}

TEST_F(RouterTest, ScrapesAreLimitedWhileTheirRepliesLive) {
  WebOptions options;
  options.max_requests = 2;
  Router router(options, Handlers());
  const HttpRequest scrape = {"GET", "/metrics", "", ""};
  const HttpReply first = router.Answer(scrape);
  {
    const HttpReply second = router.Answer(scrape);
    EXPECT_EQ(router.Answer(scrape).status, 503);
    EXPECT_EQ(router.Answer({"GET", "/-/healthy", "", ""}).status, 200);
  }
  EXPECT_EQ(router.Answer(scrape).status, 200);
}

TEST_F(RouterTest, HealthAndReadinessSayWhy) {
  EXPECT_EQ(Ask("/-/healthy").status, 200);
  health_ = {false, "the loop has not moved for 60 s"};
  EXPECT_THAT(*Ask("/-/healthy").body, HasSubstr("60 s"));
  readiness_ = {false, "hashdiff: other_user"};
  EXPECT_EQ(Ask("/-/ready").status, 503);
  EXPECT_THAT(*Ask("/-/ready").body, HasSubstr("hashdiff: other_user"));
  readiness_.ready = true;
  EXPECT_EQ(Ask("/-/ready").status, 200);
}

TEST_F(RouterTest, Reload) {
  EXPECT_EQ(Ask("/-/reload", "", "POST").status, 200);
  reload_ = absl::InvalidArgumentError("config.yml:12: unknown key");
  const HttpReply bad = Ask("/-/reload", "", "POST");
  EXPECT_EQ(bad.status, 400);
  EXPECT_EQ(*bad.body, "config.yml:12: unknown key\n");
  const HttpReply get = Ask("/-/reload");
  EXPECT_EQ(get.status, 405);
  EXPECT_EQ(get.headers.at(0).second, "POST");
  WebOptions options;
  options.reload_endpoint = false;
  EXPECT_EQ(Router(options, Handlers()).Answer({"POST", "/-/reload", "", ""}).status, 403);
}

TEST_F(RouterTest, WrongMethodAndUnknownPath) {
  EXPECT_EQ(Ask("/metrics", "", "POST").status, 405);
  EXPECT_EQ(Ask("/", "", "DELETE").status, 405);
  EXPECT_EQ(Ask("/metrics/", "").status, 404);
  EXPECT_EQ(Ask("/metricsx", "").status, 404);
  EXPECT_EQ(Ask("", "").status, 404);
}

TEST_F(RouterTest, LandingPageEscapesWhatTargetsSay) {
  const HttpReply reply = Ask("/");
  EXPECT_THAT(*reply.body, Not(HasSubstr("<script>")));
  EXPECT_THAT(*reply.body, HasSubstr("&lt;script&gt;"));
  EXPECT_THAT(*reply.body, HasSubstr("a &amp; b"));
  EXPECT_THAT(*reply.body, HasSubstr("Version 9.9"));
  EXPECT_THAT(reply.headers.at(0).first, HasSubstr("Content-Security-Policy"));
}

TEST_F(RouterTest, AnotherTelemetryPath) {
  WebOptions options;
  options.telemetry_path = "/m";
  Router router(options, Handlers());
  EXPECT_EQ(router.Answer({"GET", "/m", "", ""}).status, 200);
  EXPECT_EQ(router.Answer({"GET", "/metrics", "", ""}).status, 404);
  EXPECT_THAT(*router.Answer({"GET", "/", "", ""}).body, HasSubstr("href=\"/m\""));
}

}  // namespace
}  // namespace mempulse
