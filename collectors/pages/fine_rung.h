#pragma once

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "collectors/pages/rung_recorder.h"
#include "collectors/pages/sweep_session.h"
#include "collectors/pages/wide_rung.h"

namespace mempulse {

// One shorter window over the pages that were still saturated on the window above. Runs to its end while the
// wide rung goes on beside it. Not thread-safe.
class FineRung {
 public:
  struct Plan {
    absl::Duration window;
    double seconds = 0;          // of the budget
    double own_seconds = 0;      // of our CPU
    double burst_ratio = 0.05;   // of one CPU in any 100 ms
    int64_t until_nanos = 0;     // latest end
    uint32_t verdict_looks = 0;  // fewest looks before a page is judged
    uint64_t join_pages = 0;     // gaps of so many pages between members are walked over, hot pages left out
    std::vector<uint64_t> hot;   // pages known to be written all the time, members or not; ascending
    bool final_verdict = false;  // saturated means hit every time: what this rung says is published as it is
  };
  // What a rung hands to the next one; ascending and disjoint.
  struct Pages {
    std::vector<uint64_t> saturated;  // candidates
    std::vector<uint64_t> read;       // their rate was read here: a few of them are to be confirmed
  };
  // Pages that are looked at together.
  struct Batch {
    std::vector<uint64_t> members;    // of the saturated
    std::vector<uint64_t> witnesses;  // of the read
  };
  struct Drawn {
    double page_share = 1;        // with which members were drawn from the saturated
    uint64_t eligible_pages = 0;  // the saturated
    std::vector<Batch>
        batches;  // each so small that its faults cannot take more than a part of the target's CPU
  };
  // Draws what the plan can afford. No batches: not even a handful.
  static Drawn Draw(const SweepSession& session, const Plan& plan, const Pages& from_above);

  // `wide` may be null (a tracker that cannot reset a range).
  FineRung(SweepSession* session, WideRung* wide, Plan plan, const Batch& batch);

  // False when the sweep must end. A pool too dear even for a handful gives an empty sample marked
  // cut_by_budget.
  absl::StatusOr<bool> Run();
  Pages Verdicts() const;
  RungSample Finish() &&;

 private:
  absl::StatusOr<bool> RunLooks();
  absl::Status LookNow(bool contiguous);
  // Takes out pages whose verdict is in; false when none is left.
  bool DropDecided();
  bool IsDecided(size_t page) const;
  std::vector<PageRange> JoinedRanges(const std::vector<uint64_t>& active) const;

  SweepSession* session_;
  WideRung* wide_;
  Plan plan_;
  std::vector<PageRange> ranges_;
  RungRecorder recorder_;
  int64_t began_nanos_ = 0;
  double spent_ = 0;      // of the budget, by this rung alone
  double own_spent_ = 0;  // of our CPU
};

}  // namespace mempulse
