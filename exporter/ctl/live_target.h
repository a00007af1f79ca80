#pragma once

#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "collectors/host/clock.h"
#include "collectors/host/host.h"
#include "collectors/pages/page_content.h"
#include "collectors/pages/sweep.h"
#include "collectors/pages/tracker_probe.h"
#include "collectors/targets/build_id_cache.h"
#include "collectors/targets/target.h"
#include "config/options.h"

namespace mempulse {

// One running process, its tracker and its sweep, for a command. Not thread-safe.
class LiveTarget {
 public:
  // Errors are sentences for the user. Unavailable: no tracker works; `support` then says why, tracker by
  // tracker.
  static absl::StatusOr<std::unique_ptr<LiveTarget>> Open(const Host& host, int pid, TrackerChoice tracker,
                                                          bool attach, std::vector<TrackerSupport>* support);
  LiveTarget(const LiveTarget&) = delete;
  LiveTarget& operator=(const LiveTarget&) = delete;

  const ProcessFacts& facts() const { return target_.facts(); }
  TrackerKind tracker() const { return tracker_->kind(); }
  // Of the executable; empty when it has none or cannot be read.
  std::string BuildId();

  // One sweep; regions of files carry their build ids.
  absl::StatusOr<Sweep::Result> Run(const SweepRequest& request, const std::stop_token& stop);

 private:
  LiveTarget(const Host& host, Target target) : host_(host), target_(std::move(target)), build_ids_(host) {}

  const Host& host_;
  Target target_;
  SystemClock clock_;
  BuildIdCache build_ids_;
  std::unique_ptr<PageTracker> tracker_;
  std::unique_ptr<PageContent> content_;  // null where the memory may not be read
  std::unique_ptr<Sweep> sweep_;
};

// One line a tracker that was refused, on standard error.
void PrintRefusals(const std::vector<TrackerSupport>& support);

}  // namespace mempulse
