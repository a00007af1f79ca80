#include "collectors/pages/coverage.h"

#include <algorithm>
#include <iterator>

namespace mempulse {
namespace {

uint64_t CountPages(const std::vector<PageRange>& ranges) {
  uint64_t pages = 0;
  for (const PageRange& range : ranges) pages += range.pages();
  return pages;
}

// Two disjoint ascending lists as one; ranges that touch are joined.
std::vector<PageRange> Unite(const std::vector<PageRange>& a, const std::vector<PageRange>& b) {
  std::vector<PageRange> sorted;
  std::merge(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(sorted),
             [](const PageRange& x, const PageRange& y) { return x.start < y.start; });
  std::vector<PageRange> united;
  for (const PageRange& range : sorted) {
    if (!united.empty() && united.back().end == range.start) {
      united.back().end = range.end;
    } else {
      united.push_back(range);
    }
  }
  return united;
}

// Adds what fits under the limit; what does not is one refusal.
void AddWithin(uint64_t max_pages, const Mapping& mapping, const std::vector<PageRange>& ranges,
               Coverage* coverage) {
  for (const PageRange& range : ranges) {
    const uint64_t room = max_pages - std::min(max_pages, coverage->pages);
    const uint64_t taken = std::min(room, range.pages());
    const uint64_t cut = range.start + taken * kPageSize;
    if (taken > 0) coverage->ranges.push_back({range.start, cut});
    coverage->pages += taken;
    if (cut < range.end) {
      coverage->refusals.push_back({{cut, mapping.end}, "page_limit"});
      return;
    }
  }
}

}  // namespace

const char* MappingRefusal(const Mapping& mapping, const CoverOptions& options, const CoverageRules& rules) {
  if (mapping.kind == RegionKind::kDevice || mapping.kind == RegionKind::kOther) return "special";
  if (mapping.shared && !options.include_shared) return "shared";
  if (rules.needs_readable && !mapping.readable) return "not_readable";
  return nullptr;
}

absl::StatusOr<Coverage> CoverPresentPages(absl::Span<const Mapping> mappings, const CoverOptions& options,
                                           const CoverageRules& rules, PresenceSource* source) {
  Coverage coverage;
  for (const Mapping& mapping : mappings) {
    const PageRange whole{mapping.start, mapping.end};
    if (const char* reason = MappingRefusal(mapping, options, rules); reason != nullptr) {
      coverage.refusals.push_back({whole, reason});
      continue;
    }
    if (coverage.pages >= options.max_pages) {
      coverage.refusals.push_back({whole, "page_limit"});
      continue;
    }
    absl::StatusOr<PresentPages> present = source->FindPresent(mapping);
    if (!present.ok()) return present.status();
    if (present->cut) coverage.refusals.push_back({whole, "page_limit"});
    if (options.include_huge) {
      AddWithin(options.max_pages, mapping, Unite(present->base, present->huge), &coverage);
      continue;
    }
    coverage.huge_pages_skipped += CountPages(present->huge);
    for (const PageRange& huge : present->huge) coverage.refusals.push_back({huge, "huge_pages"});
    AddWithin(options.max_pages, mapping, present->base, &coverage);
  }
  return coverage;
}

}  // namespace mempulse
