#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "collectors/host/clock.h"
#include "collectors/host/host.h"
#include "collectors/pages/page_content.h"
#include "collectors/pages/sweep.h"
#include "collectors/pages/tracker_probe.h"
#include "collectors/targets/build_id_cache.h"
#include "collectors/targets/target.h"
#include "config/options.h"
#include "exporter/round/round_report.h"

namespace mempulse {

// How one sweep of a round is to be run.
struct WatchRequest {
  TargetGroupOptions group;
  absl::Duration interval;  // over which the budget is averaged
  absl::Duration spread;    // of the looks
  uint64_t seed = 1;
};

// What one sweep adds to a group's totals.
struct WatchOutcome {
  SweepOutcome outcome = SweepOutcome::kFailed;
  absl::Status problem;                // OK, or what went wrong
  std::string error_reason;            // of kErrorReasons when `problem` is set
  ObserverEffect effect;               // since the previous sweep
  std::vector<double> observed_hertz;  // one a page with a frequency
  CrossCheck cross_check;              // of this sweep; no pages: not done
};

// One process, its tracker and what was last found there. One thread at a time; not thread-safe.
class TargetWatch {
 public:
  // `offers` may be null: then nobody listens for targets that cooperate. Not owned.
  TargetWatch(const Host& host, Clock& clock, ProcessFacts facts, std::vector<TrackerSupport> own_support,
              CooperativeOffers* offers = nullptr);

  // Opens target and tracker where needed, sweeps, analyses. The report keeps the last good answer when this
  // sweep gave none.
  WatchOutcome Sweep(const WatchRequest& request, const std::stop_token& stop);

  // Whether the process that is being tracked still runs; false also when nothing is tracked.
  bool Alive() const;

  const ProcessReport& report() const { return report_; }

 private:
  absl::Status Open(const WatchRequest& request);
  void TakeUpOffer(const TargetGroupOptions& group);
  void Close();
  void Analyse(const WatchRequest& request, mempulse::Sweep::Result result, WatchOutcome* outcome);
  void NameObjects();
  ObserverEffect EffectSinceLast();

  const Host& host_;
  Clock& clock_;
  ProcessFacts facts_;
  std::vector<TrackerSupport> own_support_;
  CooperativeOffers* const offers_;
  std::unique_ptr<Target> target_;
  std::unique_ptr<PageTracker> tracker_;
  std::unique_ptr<PageContent> content_;  // null where the memory may not be read, and for hashdiff
  std::unique_ptr<mempulse::Sweep> sweep_;
  uint64_t offer_tried_ = 0;  // CooperativeOffers::Newest when the tracker was opened
  ObserverEffect effect_before_;
  int rounds_until_retry_ = 0;  // after every mechanism refused
  BuildIdCache build_ids_;
  ProcessReport report_;
};

// The reason (of kErrorReasons) under which a status is counted.
std::string ErrorReasonOf(const absl::Status& status, absl::string_view stage);

// Rungs over all parts, longest first.
std::vector<RungSummary> SummariseRungs(const SweepSample& sample);

}  // namespace mempulse
