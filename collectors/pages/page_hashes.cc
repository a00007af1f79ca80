#include "collectors/pages/page_hashes.h"

#include <algorithm>
#include <utility>

namespace mempulse {

void PageHashes::Assign(absl::Span<const PageRange> ranges) {
  PageHashes next;
  next.runs_.reserve(ranges.size());
  uint64_t pages = 0;
  for (const PageRange& range : ranges) {
    next.runs_.push_back({range.start, static_cast<uint32_t>(range.pages()), static_cast<uint32_t>(pages)});
    pages += range.pages();
  }
  next.words_.assign(pages, kUnknown);
  size_t old = 0;
  for (const Run& run : next.runs_) {
    while (old < runs_.size() && runs_[old].end() <= run.start) ++old;
    for (size_t i = old; i < runs_.size() && runs_[i].start < run.end(); ++i) {
      const uint64_t from = std::max(run.start, runs_[i].start);
      const uint64_t to = std::min(run.end(), runs_[i].end());
      const uint64_t* source = words_.data() + runs_[i].first + (from - runs_[i].start) / kPageSize;
      std::copy_n(source, (to - from) / kPageSize,
                  next.words_.data() + run.first + (from - run.start) / kPageSize);
    }
  }
  *this = std::move(next);
}

const PageHashes::Run* PageHashes::Find(uint64_t address) const {
  const auto holds = [address](const Run& run) { return address >= run.start && address < run.end(); };
  for (size_t i = recent_; i < runs_.size() && i < recent_ + 2; ++i) {
    if (holds(runs_[i])) return &runs_[i];
  }
  auto after = std::upper_bound(runs_.begin(), runs_.end(), address,
                                [](uint64_t wanted, const Run& run) { return wanted < run.start; });
  if (after == runs_.begin()) return nullptr;
  --after;
  return holds(*after) ? &*after : nullptr;
}

absl::Span<uint64_t> PageHashes::From(uint64_t address) {
  const Run* run = Find(address);
  if (run == nullptr) return {};
  recent_ = static_cast<size_t>(run - runs_.data());
  const uint64_t skipped = (address - run->start) / kPageSize;
  return absl::MakeSpan(words_).subspan(run->first + skipped, run->pages - skipped);
}

uint64_t PageHashes::memory_bytes() const {
  return words_.capacity() * sizeof(uint64_t) + runs_.capacity() * sizeof(Run);
}

}  // namespace mempulse
