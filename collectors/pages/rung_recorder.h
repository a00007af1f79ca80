#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/types/span.h"
#include "collectors/pages/page_tracker.h"
#include "collectors/pages/sweep_sample.h"

namespace mempulse {

// Writes down the looks of one rung over one set of ranges. Pages appear when they are first hit, or all at
// once when they are named as members. Knows no clock and no tracker; not thread-safe.
class RungRecorder {
 public:
  RungRecorder(absl::Duration requested, std::vector<PageRange> ranges, bool record_hits);

  // Lists these pages even when they are never hit; from then on no other page is recorded.
  void NameMembers(absl::Span<const uint64_t> addresses);
  // The same for pages that only confirm what the rung above read.
  void NameWitnesses(absl::Span<const uint64_t> addresses);

  // The reset that opens the next window.
  void Open(const Instant& reset) { open_ = reset; }
  bool is_open() const { return open_.has_value(); }
  int64_t opened_nanos() const { return open_.has_value() ? open_->begin_nanos : 0; }

  // Closes the window with a look whose hits are `written` (pages outside the rung or dropped are passed
  // over), and opens the next one at `reset`. A discarded look counts for nothing but keeps its place.
  struct LookFacts {
    Instant look;
    Instant reset;
    bool atomic = true;
    bool contiguous = true;
    bool discarded = false;
  };
  void Close(const LookFacts& facts, absl::Span<const PageRange> written);

  // The target's CPU use over the looks since the last call: they become busy when it is at least half.
  void SettleCpu(double target_cpu);

  // Pages to leave out from the next look on. Unknown ones are ignored.
  void Drop(uint64_t address);

  size_t looks() const { return sample_.looks.size(); }
  const std::vector<PageRange>& ranges() const { return sample_.ranges; }
  const std::vector<PageHits>& pages() const { return sample_.pages; }
  bool dropped(size_t page) const { return dropped_[page]; }
  uint32_t look_count(size_t page) const;  // so far
  RungSample& sample() { return sample_; }

  // Sorts and completes the sample; the recorder is spent.
  RungSample Finish() &&;

 private:
  struct Trail {  // what the spacing of hits needs
    int64_t first_hit_nanos = 0;
    int64_t last_hit_nanos = 0;
    uint32_t unsettled_hits = 0;
  };
  void AddPage(uint64_t address);
  void CountHit(uint64_t address, int64_t at_nanos);

  RungSample sample_;
  bool record_hits_;
  bool members_only_ = false;
  std::optional<Instant> open_;
  absl::flat_hash_map<uint64_t, uint32_t> index_;
  std::vector<Trail> trails_;
  std::vector<bool> dropped_;
  std::vector<uint32_t> unsettled_pages_;
  size_t settled_looks_ = 0;
  std::vector<bool> busy_;  // by look
};

}  // namespace mempulse
