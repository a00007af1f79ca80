#include "exporter/publish/own_metrics.h"

#include <limits>
#include <string>

#include "absl/strings/str_cat.h"

namespace mempulse {
namespace {

double UnixSeconds(absl::Time time) { return absl::ToDoubleSeconds(time - absl::UnixEpoch()); }

void AddProcess(const ProcessUsage& usage, FamilyBook* book) {
  book->Add(Metric("process_cpu_seconds_total"), {}, usage.cpu_seconds);
  book->Add(Metric("process_resident_memory_bytes"), {}, static_cast<double>(usage.resident_bytes));
  book->Add(Metric("process_virtual_memory_bytes"), {}, static_cast<double>(usage.virtual_bytes));
  book->Add(Metric("process_open_fds"), {}, static_cast<double>(usage.open_fds));
  book->Add(Metric("process_threads"), {}, static_cast<double>(usage.threads));
  book->Add(Metric("process_start_time_seconds"), {}, usage.start_time_seconds);
  book->Add(Metric("process_max_fds"), {}, static_cast<double>(usage.max_fds));
}

}  // namespace

void AddRoundMetrics(const RoundReport& report, const BuildInfo& build, FamilyBook* book) {
  book->Add(Metric("mempulse_build_info"), {build.version, build.revision, build.compiler}, 1);
  book->Add(Metric("mempulse_rounds_total"), {}, static_cast<double>(report.number));
  book->Add(Metric("mempulse_round_interval_seconds"), {}, absl::ToDoubleSeconds(report.interval));
  if (report.number > 0) {
    book->Add(Metric("mempulse_round_duration_seconds"), {},
              absl::ToDoubleSeconds(report.finished - report.started));
    book->Add(Metric("mempulse_last_round_timestamp_seconds"), {}, UnixSeconds(report.finished));
  }
  for (const CollectorRun& run : report.collectors) {
    book->Add(Metric("mempulse_collector_success"), {run.name}, run.success ? 1 : 0);
    book->Add(Metric("mempulse_collector_duration_seconds"), {run.name}, run.duration_seconds);
  }
  for (const TrackerSupport& support : report.own_support) {
    book->Add(Metric("mempulse_tracker_supported"),
              {std::string(TrackerKindName(support.kind)), support.reason}, support.supported ? 1 : 0);
  }
  book->Add(Metric("mempulse_config_last_reload_successful"), {}, report.last_reload_ok ? 1 : 0);
  if (report.last_reload_at > absl::UnixEpoch()) {
    book->Add(Metric("mempulse_config_last_reload_success_timestamp_seconds"), {},
              UnixSeconds(report.last_reload_at));
  }
}

void AddOwnMetrics(const OwnState& own, FamilyBook* book) {
  for (const auto& [request, count] : own.http.requests) {
    book->Add(Metric("mempulse_http_requests_total"), {request.first, absl::StrCat(request.second)},
              static_cast<double>(count));
  }
  for (size_t i = 0; i < kAllConnectionRefusals.size(); ++i) {
    book->Add(Metric("mempulse_http_connections_refused_total"),
              {ConnectionRefusalName(kAllConnectionRefusals[i])}, static_cast<double>(own.http.refused[i]));
  }
  if (own.offers) {
    book->Add(Metric("mempulse_attach_offers_held"), {}, static_cast<double>(own.offers->held));
    for (const auto& [result, count] : own.offers->results) {
      book->Add(Metric("mempulse_attach_offers_total"), {result}, static_cast<double>(count));
    }
  }
  if (own.process) AddProcess(*own.process, book);
}

}  // namespace mempulse
