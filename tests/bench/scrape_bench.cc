#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "exporter/publish/snapshot_builder.h"
#include "exporter/web/http_server.h"
#include "tests/unit/exporter/publish/report_fixture.h"
#include "tests/unit/exporter/web/raw_client.h"

// How long a scrape of a page with 2,000 series takes over loopback, against the bar of 10 ms, and what
// rendering such a page costs the round. Exits with 1 above the bar.
namespace mempulse {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double kBarMilliseconds = 10;
constexpr int kScrapes = 2000;
constexpr int kBuilds = 50;

double MillisecondsSince(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

double Quantile(std::vector<double> values, double q) {
  std::sort(values.begin(), values.end());
  return values[static_cast<size_t>(q * static_cast<double>(values.size() - 1))];
}

std::vector<double> MeasureScrapes(int port, const std::string& headers) {
  std::vector<double> times;
  for (int i = 0; i < kScrapes; ++i) {
    const Clock::time_point start = Clock::now();
    const std::string reply = Get(port, "/metrics", headers);
    times.push_back(MillisecondsSince(start));
    if (StatusOf(reply) != 200) {
      std::fprintf(stderr, "scrape %d failed: %s\n", i, reply.substr(0, 80).c_str());
      std::exit(1);
    }
  }
  return times;
}

void PrintRow(const char* name, const std::vector<double>& times) {
  const double p99 = Quantile(times, 0.99);
  std::printf("%-26s %10.3f %10.3f %10.3f\n", name, Quantile(times, 0.5), p99, p99 / kBarMilliseconds);
}

int Run() {
  SnapshotOptions options;
  SnapshotBuilder builder(options);
  const RoundReport report = LargeReport(16, 20);
  std::shared_ptr<const Snapshot> snapshot;
  std::vector<double> builds;
  for (int i = 0; i < kBuilds; ++i) {
    const Clock::time_point start = Clock::now();
    snapshot = builder.Build(report);
    builds.push_back(MillisecondsSince(start));
  }
  WebOptions web;
  web.listen_addresses = {"127.0.0.1:0"};
  const absl::StatusOr<std::unique_ptr<HttpServer>> server =
      HttpServer::Create(web, {[&snapshot] { return snapshot; }, [] { return Health(); },
                               [] { return Readiness(); }, [] { return absl::OkStatus(); }});
  if (!server.ok()) {
    std::fprintf(stderr, "%s\n", server.status().ToString().c_str());
    return 1;
  }
  const int port = (*server)->ports().at(0);
  const std::vector<double> plain = MeasureScrapes(port, "");
  const std::vector<double> packed = MeasureScrapes(port, "Accept-Encoding: gzip\r\n");
  std::printf("%zu series, %zu bytes, %zu packed; %d scrapes, each on a new connection\n", snapshot->series,
              snapshot->text.size(), snapshot->gzip.size(), kScrapes);
  std::printf("%-26s %10s %10s %10s\n", "", "p50 ms", "p99 ms", "p99 / bar");
  PrintRow("scrape", plain);
  PrintRow("scrape, gzip", packed);
  PrintRow("rendering (in the round)", builds);
  return Quantile(plain, 0.99) < kBarMilliseconds && Quantile(packed, 0.99) < kBarMilliseconds ? 0 : 1;
}

}  // namespace
}  // namespace mempulse

int main() { return mempulse::Run(); }
