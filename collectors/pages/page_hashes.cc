#include "collectors/pages/page_hashes.h"

#include <algorithm>
#include <utility>

namespace mempulse {

void PageHashes::Assign(absl::Span<const PageRange> ranges) {
  PageHashes next;
  next.runs_.reserve(ranges.size());
  uint64_t pages = 0;
  for (const PageRange& range : ranges) {
    next.runs_.push_back({range, pages});
    pages += range.pages();
  }
  next.words_.assign(pages, kUnknown);
  size_t old = 0;
  for (const Run& run : next.runs_) {
    while (old < runs_.size() && runs_[old].range.end <= run.range.start) ++old;
    for (size_t i = old; i < runs_.size() && runs_[i].range.start < run.range.end; ++i) {
      const uint64_t from = std::max(run.range.start, runs_[i].range.start);
      const uint64_t to = std::min(run.range.end, runs_[i].range.end);
      const uint64_t* source = words_.data() + runs_[i].first + (from - runs_[i].range.start) / kPageSize;
      std::copy_n(source, (to - from) / kPageSize,
                  next.words_.data() + run.first + (from - run.range.start) / kPageSize);
    }
  }
  *this = std::move(next);
}

const PageHashes::Run* PageHashes::Find(uint64_t address) const {
  const auto holds = [address](const Run& run) {
    return address >= run.range.start && address < run.range.end;
  };
  for (size_t i = recent_; i < runs_.size() && i < recent_ + 2; ++i) {
    if (holds(runs_[i])) return &runs_[i];
  }
  auto after = std::upper_bound(runs_.begin(), runs_.end(), address,
                                [](uint64_t wanted, const Run& run) { return wanted < run.range.start; });
  if (after == runs_.begin()) return nullptr;
  --after;
  return holds(*after) ? &*after : nullptr;
}

absl::Span<uint64_t> PageHashes::From(uint64_t address) {
  const Run* run = Find(address);
  if (run == nullptr) return {};
  recent_ = static_cast<size_t>(run - runs_.data());
  const uint64_t skipped = (address - run->range.start) / kPageSize;
  return absl::MakeSpan(words_).subspan(run->first + skipped, run->range.pages() - skipped);
}

uint64_t PageHashes::memory_bytes() const {
  return words_.capacity() * sizeof(uint64_t) + runs_.capacity() * sizeof(Run);
}

}  // namespace mempulse
