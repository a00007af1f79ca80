#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "collectors/host/clock.h"
#include "collectors/host/host.h"
#include "collectors/targets/target_finder.h"
#include "config/options.h"
#include "exporter/round/logger.h"
#include "exporter/round/round_report.h"
#include "exporter/round/watch_set.h"

namespace mempulse {

// Runs round after round: finds targets, has workers sweep them, reports. The one place that waits, and the
// one that logs what failed. A target whose sweep takes longer than a round keeps its last answer and is not
// started twice; the others go on.
class RoundRunner {
 public:
  // `publish` is called from Run's thread with a finished report, after each round and when an answer has
  // come in between. Host, clock, logger and offers (null: nobody listens for any) must outlive the runner.
  static absl::StatusOr<std::unique_ptr<RoundRunner>> Create(const Options& options, const Host& host,
                                                             Clock& clock, Logger& log,
                                                             std::function<void(const RoundReport&)> publish,
                                                             CooperativeOffers* offers = nullptr);
  ~RoundRunner();

  // Runs until `stop`, or until `rounds` rounds have ended (0: for ever). Returns within a second of a stop.
  void Run(uint64_t rounds, const std::stop_token& stop);

  // New targets, sweep and round settings from the next round on; InvalidArgument keeps the old ones.
  // Thread-safe.
  absl::Status Reload(const Options& options) ABSL_LOCKS_EXCLUDED(mutex_);
  // What the web server tells about the last reload. Thread-safe.
  void NoteReload(bool ok) ABSL_LOCKS_EXCLUDED(mutex_);

  // Whether the loop has come round within three intervals. Thread-safe.
  bool Alive() const ABSL_LOCKS_EXCLUDED(mutex_);
  // Empty once the first round has ended and at least one process that was found has a tracker, or none was
  // found; else why not, and what would help. Thread-safe.
  std::string NotReadyReason() const ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  struct Settings {
    Options options;
    std::unique_ptr<TargetFinder> finder;
  };

  RoundRunner(const Host& host, Clock& clock, Logger& log, std::function<void(const RoundReport&)> publish,
              CooperativeOffers* offers);
  static absl::StatusOr<Settings> MakeSettings(const Options& options, const Host& host);

  void AdoptSettings() ABSL_LOCKS_EXCLUDED(mutex_);
  void Discover() ABSL_LOCKS_EXCLUDED(mutex_);
  void Work(const std::stop_token& stop) ABSL_LOCKS_EXCLUDED(mutex_);
  WatchRequest RequestFor(Watched* watched) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void LogOutcome(const std::string& group, const ProcessReport& report, const WatchOutcome& outcome);
  void LeaveOver(const std::string& limit) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void WaitForRound(absl::Time started, const std::stop_token& stop) ABSL_LOCKS_EXCLUDED(mutex_);
  RoundReport MakeReport() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  int EffectiveWorkers() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Publish() ABSL_LOCKS_EXCLUDED(mutex_);

  const Host& host_;
  Clock& clock_;
  Logger& log_;
  const std::function<void(const RoundReport&)> publish_;
  std::vector<TrackerSupport> own_support_;  // set once, before any thread runs

  mutable absl::Mutex mutex_;
  Settings settings_ ABSL_GUARDED_BY(mutex_);
  std::unique_ptr<Settings> next_settings_ ABSL_GUARDED_BY(mutex_);
  WatchSet watches_ ABSL_GUARDED_BY(mutex_);
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  bool answers_unpublished_ ABSL_GUARDED_BY(mutex_) = false;
  uint64_t round_ ABSL_GUARDED_BY(mutex_) = 0;
  absl::Time round_started_ ABSL_GUARDED_BY(mutex_);
  absl::Time round_finished_ ABSL_GUARDED_BY(mutex_) = absl::InfinitePast();
  absl::Time loop_seen_ ABSL_GUARDED_BY(mutex_);
  CollectorRun discovery_ ABSL_GUARDED_BY(mutex_);
  bool last_reload_ok_ ABSL_GUARDED_BY(mutex_) = true;
  absl::Time last_reload_at_ ABSL_GUARDED_BY(mutex_);
  std::vector<std::jthread> workers_;
};

}  // namespace mempulse
