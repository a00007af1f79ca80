#pragma once

#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "collectors/pages/page_range.h"

namespace mempulse {

// Arithmetic on ascending, disjoint lists of page ranges. Pure.
uint64_t CountPages(absl::Span<const PageRange> ranges);
// Sorts and joins ranges that overlap, touch, or are at most `gap_pages` apart.
std::vector<PageRange> MergeRanges(std::vector<PageRange> ranges, uint64_t gap_pages = 0);
std::vector<PageRange> IntersectRanges(absl::Span<const PageRange> a, absl::Span<const PageRange> b);
// What is in `a` and not in `b`.
std::vector<PageRange> SubtractRanges(absl::Span<const PageRange> a, absl::Span<const PageRange> b);
bool ContainsPage(absl::Span<const PageRange> ranges, uint64_t address);
// One range a page -> merged ranges; `addresses` ascending page addresses.
std::vector<PageRange> RangesOfPages(absl::Span<const uint64_t> addresses, uint64_t gap_pages = 0);

// Cuts the list into parts of at most `pages` pages and `count` ranges each, splitting ranges where needed.
std::vector<std::vector<PageRange>> SplitRanges(absl::Span<const PageRange> ranges, uint64_t pages,
                                                size_t count);

// Every page independently with chance `share`: the same seed draws the same pages. Linear in the pages drawn
// from.
std::vector<PageRange> DrawPages(absl::Span<const PageRange> ranges, double share, uint64_t seed);
// Every aligned block of `block_pages` pages with chance `share`: for populations too large to draw page by
// page.
std::vector<PageRange> DrawBlocks(absl::Span<const PageRange> ranges, double share, uint64_t block_pages,
                                  uint64_t seed);

}  // namespace mempulse
