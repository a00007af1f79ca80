#pragma once

#include <cstdint>
#include <memory>
#include <stop_token>
#include <vector>

#include "absl/status/statusor.h"
#include "collectors/host/clock.h"
#include "collectors/pages/fine_rung.h"
#include "collectors/pages/page_tracker.h"
#include "collectors/pages/sweep_sample.h"
#include "collectors/pages/sweep_session.h"
#include "collectors/pages/wide_rung.h"

namespace mempulse {

// Sweeps the ladder over one target, again and again, and remembers between sweeps what the gap needs.
// Wide, then narrow: the longest window runs over all pages (or a random sample) for the whole sweep; pages
// that are hit every time go on to the next window, and so on. Not thread-safe; owns nothing it is given.
class Sweep {
 public:
  Sweep(PageTracker& tracker, Clock& clock, SweepTarget target);

  struct Result {
    SweepSample sample;
    Coverage coverage;                    // of the last Cover in this sweep
    double own_seconds = 0;               // of our CPU and waiting in calls
    double target_seconds = 0;            // of the target's CPU, by the tracker's cost of a hit
    absl::Status end = absl::OkStatus();  // why it ended early, when it did
  };
  // A target that vanishes half-way gives what was seen until then, with outcome kExited. Errors: what the
  // first Cover gives (NotFound: gone; others: the tracker cannot work).
  absl::StatusOr<Result> Run(const SweepRequest& request, const std::stop_token& stop);

 private:
  struct Population {
    std::vector<PageRange> ranges;
    double share = 1;  // with which its pages were drawn from the covered ones
    uint64_t eligible = 0;
  };
  absl::StatusOr<Population> ChoosePopulation(SweepSession* session, SweepSample* sample);
  absl::StatusOr<std::vector<PageRange>> LookAtGap(SweepSession* session, SweepSample* sample);
  absl::StatusOr<Population> Scout(SweepSession* session, std::vector<PageRange> ranges, double share);
  struct Pilot {
    double hit_share = 0;             // of the pages written in one wide window
    double own_seconds_per_page = 0;  // that a look at a page drawn in blocks costs us
  };
  absl::StatusOr<Pilot> RunPilot(SweepSession* session, const std::vector<PageRange>& ranges);
  absl::Status RunLadder(SweepSession* session, const Population& population, SweepSample* sample);
  absl::StatusOr<bool> RunFineRungs(SweepSession* session, WideRung* wide, SweepSample* sample);
  // One window; `pages` goes in as what the window above handed down and comes out as what goes on to the
  // next.
  absl::StatusOr<bool> RunBatches(SweepSession* session, WideRung* beside, FineRung::Plan plan,
                                  FineRung::Pages* pages, SweepSample* sample);
  void OpenGap(SweepSession* session);

  PageTracker& tracker_;
  Clock& clock_;
  SweepTarget target_;
  // Since the last reset of the previous sweep.
  std::vector<PageRange> gap_ranges_;
  std::vector<PageRange> covered_before_;
  double gap_share_ = 1;
  double gap_written_share_ = 1;  // of the gap's pages, last time: sizes the next gap
  Instant gap_opened_;
};

}  // namespace mempulse
