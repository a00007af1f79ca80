#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "config/options.h"
#include "exporter/publish/own_state.h"
#include "exporter/publish/region_slots.h"
#include "exporter/publish/snapshot.h"
#include "exporter/round/round_report.h"

namespace mempulse {

struct SnapshotOptions {
  BuildInfo build;
  LimitOptions limits;
  bool exporter_metrics = true;  // process_* and the exporter's HTTP counters
};

// Renders round reports. Remembers between rounds which file regions hold a place among the hottest and how
// many series the limit has cut. Not thread-safe: one builder belongs to the thread that runs rounds.
class SnapshotBuilder {
 public:
  explicit SnapshotBuilder(SnapshotOptions options) : options_(std::move(options)) {}

  // After a reload. Counters and places are kept.
  void SetOptions(SnapshotOptions options) { options_ = std::move(options); }

  // Never null. A report whose number is 0 gives the page before the first round. What `own` says is as old
  // as this call: a scrape refreshes nothing.
  std::shared_ptr<const Snapshot> Build(const RoundReport& report, const OwnState& own = {});

 private:
  SnapshotOptions options_;
  std::map<std::string, RegionSlots> slots_;  // by group
  uint64_t dropped_series_ = 0;
};

}  // namespace mempulse
