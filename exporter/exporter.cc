#include "exporter/exporter.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "exporter/build_info.h"

namespace mempulse {
namespace {

SnapshotOptions SnapshotOptionsOf(const Options& options) {
  return {{kVersion, kRevision, kCompiler}, options.limits, options.web.exporter_metrics};
}

OfferCounts CountsOf(const CooperativeOffers& offers) {
  OfferCounts counts;
  counts.held = offers.held();
  const auto results = offers.results();
  for (size_t i = 0; i < results.size(); ++i) {
    counts.results[std::string(OfferResultName(static_cast<OfferResult>(i)))] = results[i];
  }
  return counts;
}

}  // namespace

Exporter::Exporter(const Flags& flags, const Options& options, Logger& log)
    : flags_(flags),
      log_(log),
      host_(options.path.procfs, options.path.sysfs),
      snapshot_options_(SnapshotOptionsOf(options)),
      builder_(SnapshotOptionsOf(options)) {}

absl::StatusOr<std::unique_ptr<Exporter>> Exporter::Create(const Flags& flags, const Options& options,
                                                           Logger& log) {
  std::unique_ptr<Exporter> exporter(new Exporter(flags, options, log));
  Exporter* const self = exporter.get();
  if (absl::Status status = self->ListenForOffers(options.attach_socket); !status.ok()) return status;
  absl::StatusOr<std::unique_ptr<RoundRunner>> runner = RoundRunner::Create(
      options, self->host_, self->clock_, log, [self](const RoundReport& report) { self->Publish(report); },
      self->offers_.get());
  if (!runner.ok()) return runner.status();
  self->runner_ = *std::move(runner);

  WebHandlers handlers;
  handlers.snapshot = [self] { return self->board_.Take(); };
  handlers.health = [self] {
    const bool alive = self->runner_->Alive();
    return Health{alive, alive ? "" : "the measuring loop has not come round for three intervals"};
  };
  handlers.ready = [self] {
    std::string reason = self->runner_->NotReadyReason();
    const bool ready = reason.empty();
    return Readiness{ready, std::move(reason)};
  };
  handlers.reload = [self] { return self->Reload(); };
  absl::StatusOr<std::unique_ptr<HttpServer>> server = HttpServer::Create(options.web, std::move(handlers));
  if (!server.ok()) return server.status();
  self->server_ = *std::move(server);
  log.Log(LogLevel::kInfo, "listening",
          {{"addresses", absl::StrJoin(options.web.listen_addresses, ",")},
           {"ports", absl::StrJoin(self->server_->ports(), ",")},
           {"path", options.web.telemetry_path}});
  return exporter;
}

absl::Status Exporter::ListenForOffers(const std::string& path) {
  if (path.empty()) return absl::OkStatus();
  absl::StatusOr<std::unique_ptr<CooperativeOffers>> offers = CooperativeOffers::Open(host_, path);
  if (!offers.ok()) return offers.status();
  offers_ = *std::move(offers);
  log_.Log(LogLevel::kInfo, "listening for targets that cooperate", {{"attach_socket", path}});
  return absl::OkStatus();
}

void Exporter::Run(const std::stop_token& stop) {
  runner_->Run(flags_.rounds, stop);
  server_->Stop();
}

void Exporter::Publish(const RoundReport& report) {
  {
    const absl::MutexLock lock(&mutex_);
    builder_.SetOptions(snapshot_options_);
  }
  OwnState own;
  if (server_ != nullptr) own.http = server_->counts();
  if (absl::StatusOr<ProcessUsage> usage = ReadProcessUsage(host_); usage.ok()) own.process = *usage;
  if (offers_ != nullptr) own.offers = CountsOf(*offers_);
  board_.Publish(builder_.Build(report, own));
}

absl::Status Exporter::Reload() {
  absl::StatusOr<Options> options = EffectiveOptions(flags_);
  absl::Status status = options.status();
  if (status.ok()) status = runner_->Reload(*options);
  runner_->NoteReload(status.ok());
  if (!status.ok()) {
    log_.Log(LogLevel::kError, "configuration not reloaded; the old one stays",
             {{"file", flags_.config_file}, {"error", std::string(status.message())}});
    return status;
  }
  const absl::MutexLock lock(&mutex_);
  snapshot_options_ = SnapshotOptionsOf(*options);
  log_.Log(LogLevel::kInfo, "configuration reloaded",
           {{"file", flags_.config_file}, {"targets", absl::StrCat(options->targets.size())}});
  return absl::OkStatus();
}

}  // namespace mempulse
