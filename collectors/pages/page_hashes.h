#pragma once

#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "collectors/pages/page_range.h"

namespace mempulse {

// One 64-bit word for each page of a set of ranges: 8 bytes a page plus 16 a range; at most 2^32 pages. Not
// thread-safe.
class PageHashes {
 public:
  // A page that has not been looked at since it was covered.
  static constexpr uint64_t kUnknown = 0;
  // A page that was absent (unmapped, discarded, swapped) at a look: when it is back, it counts as written.
  static constexpr uint64_t kAbsent = 1;
  // What is kept for a page with this hash: the hash itself but for the two reserved values.
  static uint64_t Kept(uint64_t hash) { return hash <= kAbsent ? hash + 2 : hash; }

  // Takes over a new set of ranges (ascending, disjoint); words of pages in both sets stay.
  void Assign(absl::Span<const PageRange> ranges);

  // The words of the pages from `address` on, up to the end of the range that holds it; empty when none does.
  absl::Span<uint64_t> From(uint64_t address);

  uint64_t pages() const { return words_.size(); }
  uint64_t memory_bytes() const;

 private:
  struct Run {
    uint64_t start = 0;
    uint32_t pages = 0;
    uint32_t first = 0;  // index of its first word

    uint64_t end() const { return start + pages * kPageSize; }
  };
  const Run* Find(uint64_t address) const;

  std::vector<Run> runs_;  // ascending
  std::vector<uint64_t> words_;
  size_t recent_ = 0;  // run of the last answer: looks go through the ranges in order
};

}  // namespace mempulse
