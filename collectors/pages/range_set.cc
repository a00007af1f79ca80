#include "collectors/pages/range_set.h"

#include <algorithm>

namespace mempulse {
namespace {

// SplitMix64 (Steele, Lea and Flood, 2014): a hash of the page number under a seed decides its draw.
uint64_t Mix(uint64_t value) {
  value += 0x9e3779b97f4a7c15;
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9;
  value = (value ^ (value >> 27)) * 0x94d049bb133111eb;
  return value ^ (value >> 31);
}

bool Drawn(uint64_t number, double share, uint64_t seed) {
  return static_cast<double>(Mix(number ^ Mix(seed)) >> 11) * 0x1.0p-53 < share;
}

void AppendJoined(const PageRange& range, uint64_t gap_pages, std::vector<PageRange>* ranges) {
  if (!ranges->empty() && range.start <= ranges->back().end + gap_pages * kPageSize) {
    ranges->back().end = std::max(ranges->back().end, range.end);
  } else {
    ranges->push_back(range);
  }
}

}  // namespace

uint64_t CountPages(absl::Span<const PageRange> ranges) {
  uint64_t pages = 0;
  for (const PageRange& range : ranges) pages += range.pages();
  return pages;
}

std::vector<PageRange> MergeRanges(std::vector<PageRange> ranges, uint64_t gap_pages) {
  std::sort(ranges.begin(), ranges.end(),
            [](const PageRange& a, const PageRange& b) { return a.start < b.start; });
  std::vector<PageRange> merged;
  for (const PageRange& range : ranges) AppendJoined(range, gap_pages, &merged);
  return merged;
}

std::vector<PageRange> IntersectRanges(absl::Span<const PageRange> a, absl::Span<const PageRange> b) {
  std::vector<PageRange> both;
  size_t i = 0;
  size_t j = 0;
  while (i < a.size() && j < b.size()) {
    const PageRange common{std::max(a[i].start, b[j].start), std::min(a[i].end, b[j].end)};
    if (common.start < common.end) both.push_back(common);
    if (a[i].end < b[j].end) {
      ++i;
    } else {
      ++j;
    }
  }
  return both;
}

std::vector<PageRange> SubtractRanges(absl::Span<const PageRange> a, absl::Span<const PageRange> b) {
  std::vector<PageRange> rest;
  size_t j = 0;
  for (PageRange range : a) {
    while (j < b.size() && b[j].end <= range.start) ++j;
    for (size_t k = j; k < b.size() && b[k].start < range.end; ++k) {
      if (range.start < b[k].start) rest.push_back({range.start, b[k].start});
      range.start = std::min(range.end, std::max(range.start, b[k].end));
    }
    if (range.start < range.end) rest.push_back(range);
  }
  return rest;
}

bool ContainsPage(absl::Span<const PageRange> ranges, uint64_t address) {
  const auto after = std::upper_bound(ranges.begin(), ranges.end(), address,
                                      [](uint64_t at, const PageRange& range) { return at < range.start; });
  return after != ranges.begin() && address < std::prev(after)->end;
}

std::vector<PageRange> RangesOfPages(absl::Span<const uint64_t> addresses, uint64_t gap_pages) {
  std::vector<PageRange> ranges;
  for (const uint64_t address : addresses) AppendJoined({address, address + kPageSize}, gap_pages, &ranges);
  return ranges;
}

std::vector<std::vector<PageRange>> SplitRanges(absl::Span<const PageRange> ranges, uint64_t pages,
                                                size_t count) {
  std::vector<std::vector<PageRange>> parts;
  uint64_t room = 0;
  for (PageRange range : ranges) {
    while (range.start < range.end) {
      if (room == 0 || parts.back().size() >= count) {
        parts.emplace_back();
        room = pages;
      }
      const uint64_t take = std::min(room, range.pages());
      parts.back().push_back({range.start, range.start + take * kPageSize});
      range.start += take * kPageSize;
      room -= take;
    }
  }
  return parts;
}

std::vector<PageRange> DrawBlocks(absl::Span<const PageRange> ranges, double share, uint64_t block_pages,
                                  uint64_t seed) {
  if (share >= 1) return {ranges.begin(), ranges.end()};
  std::vector<PageRange> drawn;
  const uint64_t block_bytes = block_pages * kPageSize;
  for (const PageRange& range : ranges) {
    for (uint64_t block = range.start / block_bytes; block * block_bytes < range.end; ++block) {
      if (!Drawn(block, share, seed)) continue;
      AppendJoined(
          {std::max(range.start, block * block_bytes), std::min(range.end, (block + 1) * block_bytes)}, 0,
          &drawn);
    }
  }
  return drawn;
}

std::vector<PageRange> DrawPages(absl::Span<const PageRange> ranges, double share, uint64_t seed) {
  return DrawBlocks(ranges, share, 1, seed);
}

}  // namespace mempulse
