#pragma once

#include <memory>
#include <stop_token>

#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "collectors/host/clock.h"
#include "collectors/host/host.h"
#include "collectors/pages/cooperative_offers.h"
#include "config/options.h"
#include "exporter/flags.h"
#include "exporter/publish/snapshot.h"
#include "exporter/publish/snapshot_builder.h"
#include "exporter/round/logger.h"
#include "exporter/round/round_runner.h"
#include "exporter/web/http_server.h"

namespace mempulse {

// The sidecar, wired: rounds feed snapshots, the web server serves the last one. Run belongs to one thread;
// Reload may be called from any.
class Exporter {
 public:
  static absl::StatusOr<std::unique_ptr<Exporter>> Create(const Flags& flags, const Options& options,
                                                          Logger& log);

  // Until `stop` (or flags.rounds rounds).
  void Run(const std::stop_token& stop);

  // Reads the configuration again. A bad one is logged, counted and returned, and the old one stays. Listen
  // addresses, attach_socket, paths and logging need a restart.
  absl::Status Reload() ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  Exporter(const Flags& flags, const Options& options, Logger& log);
  absl::Status ListenForOffers(const std::string& path);
  void Publish(const RoundReport& report) ABSL_LOCKS_EXCLUDED(mutex_);

  const Flags flags_;
  Logger& log_;
  const Host host_;
  SystemClock clock_;
  SnapshotBoard board_;
  absl::Mutex mutex_;
  SnapshotOptions snapshot_options_ ABSL_GUARDED_BY(mutex_);
  SnapshotBuilder builder_;                    // Run's thread only
  std::unique_ptr<CooperativeOffers> offers_;  // null without attach_socket
  std::unique_ptr<RoundRunner> runner_;
  std::unique_ptr<HttpServer> server_;
};

}  // namespace mempulse
