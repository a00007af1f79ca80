#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <random>
#include <stop_token>
#include <vector>

#include "absl/status/statusor.h"
#include "collectors/host/clock.h"
#include "collectors/pages/fault_budget.h"
#include "collectors/pages/page_tracker.h"
#include "collectors/pages/rung_recorder.h"
#include "collectors/pages/sweep_sample.h"
#include "collectors/targets/mapping_list.h"
#include "config/options.h"

namespace mempulse {

// What a sweep asks of the process it watches, besides its tracker. Functions, so that a test can script
// them.
struct SweepTarget {
  std::function<absl::StatusOr<std::vector<Mapping>>()> mappings;
  std::function<absl::StatusOr<int64_t>()> cpu_nanos;
  // The content of pages, for the cross-check, as PageContent::Hash gives it. Empty where the memory may not
  // be read.
  std::function<absl::StatusOr<std::vector<uint64_t>>(absl::Span<const PageRange>)> hash_pages = {};
};

// What one sweep may cost and how long it may take.
struct SweepRequest {
  SweepOptions options;
  absl::Duration spread = absl::Seconds(6);  // time over which the looks are spread
  double target_seconds = 0.15;              // CPU of the target that may go into faults of our making
  double own_seconds = 0.5;                  // CPU of ours
  double own_burst = 0.05;      // of one CPU of ours in any 100 ms, where hits cost the target nothing
  uint64_t seed = 1;            // of the draws and the jitter
  bool record_hits = false;     // keep every hit of every look (captures)
  std::vector<PageRange> only;  // when not empty: nothing but these pages is looked at
  bool open_gap = true;         // reset at the end, so that the pause is the next sweep's gap
};

// The running state of one sweep that every rung shares: budget, clock, CPU gate, coverage. Not thread-safe.
class SweepSession {
 public:
  SweepSession(PageTracker& tracker, Clock& clock, const SweepTarget& target, const SweepRequest& request,
               std::stop_token stop);

  PageTracker& tracker() { return tracker_; }
  const TrackerTraits& traits() const { return tracker_.traits(); }
  const SweepRequest& request() const { return request_; }
  FaultBudget& budget() { return budget_; }
  // Share of a CPU (the target's, or ours where hits are free) that looks may take in any 100 ms.
  double burst_ratio() const;
  const Coverage& coverage() const { return coverage_; }
  const std::vector<Mapping>& mappings() const { return mappings_; }
  int64_t Now() const { return clock_.MonotonicNanos(); }
  int64_t started_nanos() const { return started_nanos_; }
  int64_t ends_nanos() const { return ends_nanos_; }

  // Reads the mappings and covers those that can be written.
  absl::Status Cover();

  // A requested window, jittered.
  int64_t JitteredNanos(absl::Duration window);
  // False when the sweep must end (stop, time limit).
  bool WaitUntil(int64_t deadline_nanos, bool precise);
  // Waits for a jittered window whether or not the sweep's time is over; false on a stop.
  bool Pause(absl::Duration window);

  // Resets ranges and charges the call.
  absl::StatusOr<Instant> Reset(absl::Span<const PageRange> ranges);

  // Closes the rung's window by one look at `ranges` and opens the next. `carried` are pages that other looks
  // saw written since. The hits, carried ones included, stay in written() until the next call. When the
  // address space changed, covers it anew and counts the look as discarded.
  absl::Status Look(absl::Span<const PageRange> ranges, absl::Span<const PageRange> carried, bool contiguous,
                    RungRecorder* rung);
  const std::vector<PageRange>& written() const { return written_; }

  bool reads_content() const { return static_cast<bool>(target_.hash_pages); }
  // Charged as time of ours.
  absl::StatusOr<std::vector<uint64_t>> HashPages(absl::Span<const PageRange> ranges);

  // Once at least 10 ms have passed, the target's CPU use since the last time. Rungs settle their looks with
  // it.
  std::optional<double> CpuBlock();
  double MeanCpu();

  // In calls and in spinning for short windows.
  double own_seconds_spent() const { return own_seconds_spent_; }

 private:
  absl::StatusOr<Instant> CoverAndReset(absl::Span<const PageRange> ranges);
  bool DistrustsWritten();
  void Charge(uint64_t hits, int64_t call_nanos);

  PageTracker& tracker_;
  Clock& clock_;
  const SweepTarget& target_;
  const SweepRequest& request_;
  std::stop_token stop_;
  int64_t started_nanos_;
  int64_t ends_nanos_;
  FaultBudget budget_;
  std::mt19937_64 random_;
  std::vector<Mapping> mappings_;
  Coverage coverage_;
  std::vector<PageRange> written_;
  int64_t first_cpu_nanos_ = 0;
  int64_t block_cpu_nanos_ = 0;
  int64_t block_started_nanos_ = 0;
  int64_t distrust_due_nanos_ = 0;
  double own_seconds_spent_ = 0;
};

}  // namespace mempulse
