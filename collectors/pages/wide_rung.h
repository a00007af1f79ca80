#pragma once

#include <cstdint>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "collectors/pages/rung_recorder.h"
#include "collectors/pages/sweep_session.h"

namespace mempulse {

// The longest window, looked at all through the sweep, also while finer rungs run: pages that those see
// written are carried over, so that no write is lost to a look of another rung. Pages that are hit every time
// leave it and become candidates. A large population is kept in parts with their own windows. Not
// thread-safe.
class WideRung {
 public:
  // `ranges`: what to look at; `page_share` and `eligible_pages` as in RungSample.
  WideRung(SweepSession* session, const std::vector<PageRange>& ranges, double page_share,
           uint64_t eligible_pages);

  // Opens the first window of every part.
  absl::Status Open();
  int64_t NextDueNanos() const;
  // Looks at every part that is due now and settles their CPU gate.
  absl::Status LookAtDueParts();
  // Looks until `until_nanos` or the end of the sweep; false when the sweep must end.
  absl::StatusOr<bool> RunUntil(int64_t until_nanos);
  // Pages that another rung saw written (its looks reset them).
  void Carry(const std::vector<PageRange>& written);
  void Settle(double target_cpu);

  // Pages that were hit every time so far and are no longer looked at here; ascending.
  const std::vector<uint64_t>& candidates() const { return candidates_; }
  double page_share() const { return page_share_; }
  uint64_t looks() const;  // of the part with the fewest
  std::vector<RungSample> Finish() &&;

 private:
  struct Part {
    RungRecorder recorder;
    std::vector<PageRange> ranges;  // of pages not dropped
    absl::flat_hash_set<uint64_t> carried;
    int64_t due_nanos = 0;
    bool pausing = false;
  };
  absl::Status LookAtPart(Part* part);
  void DropSaturated(Part* part);
  void StopForCost();

  SweepSession* session_;
  double page_share_;
  double most_spent_;
  double most_own_spent_;
  double spent_ = 0;      // of the budget, by this rung alone
  double own_spent_ = 0;  // of our CPU
  std::vector<Part> parts_;
  std::vector<uint64_t> candidates_;
  bool stopped_ = false;
};

}  // namespace mempulse
