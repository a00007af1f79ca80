#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "collectors/pages/page_range.h"
#include "collectors/pages/tracker_kind.h"

// What a sweep saw, as plain values: the whole input of the analysis and of a capture file.
namespace mempulse {

// One look of a rung: from the reset that opened the window to the look that closed it.
struct Look {
  double window_seconds = 0;  // measured, middle estimate
  double slack_seconds = 0;   // the true window is within +- this of the middle
  float target_cpu = 1;       // CPU seconds the target used per second of the window (all threads), 0..n
  bool contiguous = true;     // began where the rung's previous look ended; false after a pause
  bool discarded = false;     // distrusted as a whole (target starved, address space changed)
};

// How one page answered on one rung. A page takes part in looks [first_look, first_look + look_count) of its
// rung.
struct PageHits {
  uint64_t address = 0;
  uint32_t first_look = 0;
  uint32_t look_count = 0;
  uint32_t hits = 0;  // over looks that are not discarded
  // Not drawn into this rung: its rate was read on the rung above, and this one is to confirm it.
  bool witness = false;
  uint32_t busy_looks = 0;  // looks in which the target ran for at least half of the window
  uint32_t busy_hits = 0;
  // For the spacing of the hits: time from the first to the last hit, and the sum of squares of the gaps
  // between successive hits (measured at the ends of their windows).
  double hit_span_seconds = 0;
  double hit_gap_square_sum = 0;
};

// All looks of one requested window over one set of pages that were always looked at together. A large
// address space is walked in parts with their own looks, so several RungSamples may share `requested`.
struct RungSample {
  absl::Duration requested;
  std::vector<PageRange> ranges;  // what was looked at (a page here without PageHits was never hit)
  double page_share = 1;          // chance with which each eligible page was drawn into this rung (1 = all)
  uint64_t eligible_pages = 0;    // from which they were drawn
  std::vector<Look> looks;
  std::vector<PageHits> pages;  // ascending by address; pages with a hit, and every member of a fine rung
  double hits_per_second = 0;   // faults this rung caused over its active time: its load on the target
  uint64_t induced_faults = 0;
  bool cut_by_budget = false;  // ended or was thinned before its answers were tight
  // Filled only when the sweep records them (captures): (index into pages, look) pairs, by look.
  struct Hit {
    uint32_t page = 0;
    uint32_t look = 0;
  };
  std::vector<Hit> record;
};

// The pause before this sweep as one long window (the longest rung): pages written since the last reset of
// the previous sweep. No entry on the first sweep of a target.
struct GapSample {
  double window_seconds = 0;
  std::vector<PageRange> looked;
  std::vector<PageRange> written;
};

// What hashing said about pages that a tracker watched in the same window. Pages are counted once a check.
struct CrossCheck {
  uint64_t confirmed = 0;  // content changed and the tracker saw a write
  uint64_t unchanged = 0;  // neither
  uint64_t unconfirmed =
      0;  // only the tracker: writes that restore the content, or that lie outside the two hashes
  uint64_t missed = 0;  // only the content: the tracker lost a write

  uint64_t pages() const { return confirmed + unchanged + unconfirmed + missed; }
};

struct SweepRegion {
  PageRange range;
  int kind = 0;         // RegionKind
  std::string name;     // as Mapping::name
  uint64_t offset = 0;  // file offset of range.start
  uint64_t inode = 0;
  uint32_t device_major = 0;
  uint32_t device_minor = 0;
  bool writable = true;
  std::string build_id;  // hex, empty when unknown
};

enum class SweepOutcome {
  kComplete,
  kBudget,
  kTimeLimit,
  kExecuted,
  kExited,
  kStopped,
  kFailed,
  kForeignTracker,  // somebody else resets the same pages: what was seen until then is worthless
};
inline constexpr int kSweepOutcomeCount = 8;

struct SweepSample {
  TrackerKind tracker = TrackerKind::kHashDiff;
  bool atomic = true;
  bool sees_restores = true;
  uint64_t page_size = kPageSize;
  double target_seconds_per_hit = 0;  // cost of one induced fault, for the probe-load test
  absl::Duration ceiling_window;      // reference rung that was asked for
  std::vector<SweepRegion> regions;   // ascending; every covered mapping
  uint64_t tracked_pages = 0;
  uint64_t huge_pages_skipped = 0;
  std::vector<RungSample> rungs;  // by requested window, longest first
  GapSample gap;
  CrossCheck cross_check;  // no pages: not done
  double target_cpu = 0;   // mean CPU seconds per second over the sweep
  double duration_seconds = 0;
  SweepOutcome outcome = SweepOutcome::kComplete;
};

// "complete", "budget", "time_limit", "executed", "exited", "stopped", "failed", "foreign_tracker": a static
// string.
const char* SweepOutcomeName(SweepOutcome outcome);

}  // namespace mempulse
