#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "collectors/pages/page_range.h"
#include "collectors/pages/tracker_kind.h"
#include "collectors/targets/mapping_list.h"

namespace mempulse {

// When the state of the pages of one call was sampled or cleared, CLOCK_MONOTONIC nanoseconds. The instant
// lies somewhere in [begin, end]. Atomic trackers walk in address order each time, so begin-to-begin is every
// page's window.
struct Instant {
  int64_t begin_nanos = 0;
  int64_t end_nanos = 0;
};

// What a tracker can do and what it costs: the sweep plans with it.
struct TrackerTraits {
  bool atomic = false;                 // look and reset are one step: no write is ever lost between them
  bool resets_range = false;           // false: a reset clears the whole process, whatever the range
  bool sees_restores = false;          // a write that restores the old value is seen
  double target_seconds_per_hit = 0;   // of the target's CPU time for each page reported
  double seconds_per_page_looked = 0;  // of our CPU time for each page in the ranges
  double seconds_per_call = 0;         // of our CPU time for each range
  int64_t shortest_window_nanos = 0;   // below this its answers are not trusted
};

// Which of the wanted mappings are tracked now, and why the others are not.
struct Coverage {
  std::vector<PageRange> ranges;  // present candidates: ascending, disjoint, merged, each inside one mapping
  uint64_t pages = 0;             // sum over ranges
  struct Refusal {
    PageRange range;
    std::string reason;  // one of a closed set: "foreign_userfaultfd", "read_only_shared", "huge_pages",
                         // "shared", "special", "not_readable", "page_limit", "vanished", "error"
  };
  std::vector<Refusal> refusals;
  uint64_t huge_pages_skipped = 0;  // base pages inside transparent huge pages that were left alone
};

struct CoverOptions {
  bool include_shared = false;
  bool include_huge = false;
  uint64_t max_pages = 4 << 20;
};

// Side effects of the tracker on the target since it was opened: cumulative.
struct ObserverEffect {
  double stop_seconds = 0;  // longest-lived: a thread of the target was held (attach)
  uint64_t stops = 0;
  uint64_t induced_faults = 0;    // faults that the resets made the target take (hits)
  uint64_t huge_pages_split = 0;  // transparent huge pages that our resets caused to be split
  double lock_seconds = 0;        // our calls held or wanted the address-space lock (upper bound: call time)
  double own_cpu_seconds = 0;  // of the thread that sweeps; filled by who runs the sweep, not by the tracker
};

// Watches which pages of one process are written. One object per target; not thread-safe. After NotFound from
// any call the target is gone and the object can only be destroyed. Destroying it leaves the target as it was
// found.
class PageTracker {
 public:
  virtual ~PageTracker() = default;
  virtual TrackerKind kind() const = 0;
  virtual const TrackerTraits& traits() const = 0;

  // Brings the tracked set in line with the target's mappings of this moment: registers new and moved ones,
  // forgets vanished ones. Called before a sweep and whenever a look reports a changed address space. A
  // page's first look after it became covered means nothing until a Reset.
  virtual absl::StatusOr<Coverage> Cover(absl::Span<const Mapping> mappings, const CoverOptions& options) = 0;

  // Marks every page of the ranges as unwritten (the whole process when !traits().resets_range).
  virtual absl::StatusOr<Instant> Reset(absl::Span<const PageRange> ranges) = 0;
  // Appends the present pages of the ranges that were written since their reset; merged, ascending per range.
  virtual absl::StatusOr<Instant> Look(absl::Span<const PageRange> ranges,
                                       std::vector<PageRange>* written) = 0;
  // Both at once. Where atomic, `*reset` equals the returned instant; else the look comes first and writes
  // between the two are lost. A range that vanished (munmap) is skipped and counts as unwritten; a range that
  // lost its registration (mremap, new mapping in its place) gives FailedPrecondition: call Cover again.
  // Aborted: another tracker resets the same pages again and again.
  virtual absl::StatusOr<Instant> LookAndReset(absl::Span<const PageRange> ranges,
                                               std::vector<PageRange>* written, Instant* reset) = 0;

  // Called in the middle of a long window where resets_range is false: whoever clears the whole process
  // shares its bits with everybody else who does. Changes nothing; prepares the tracker to notice it at the
  // next look.
  virtual absl::Status Glance() { return absl::OkStatus(); }
  // Whether the answers of the last look, hits and misses, are worthless. Costs nothing.
  virtual bool LookSpoiled() const { return false; }

  // Mappings whose answers may not be used for the window that just ended (soft-dirty: grown or merged
  // entries whose old pages read dirty). Empty for the others. Cheap enough to call after each wide look.
  virtual std::vector<PageRange> Distrusted() { return {}; }

  virtual ObserverEffect effect() const = 0;
};

}  // namespace mempulse
