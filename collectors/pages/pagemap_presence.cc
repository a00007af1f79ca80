#include "collectors/pages/pagemap_presence.h"

#include <algorithm>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "collectors/pages/pagemap_scan.h"

namespace mempulse {
namespace {

// A reservation of terabytes (a sanitizer's shadow, a garbage collector's heap) would take minutes to walk.
constexpr uint64_t kMostPagesWalked = 16 << 20;
constexpr size_t kScanRegions = 512;
// A call keeps the target's mmap waiting for as long as it walks.
constexpr uint64_t kMostPagesLocked = 65536;
constexpr uint64_t kBytesPerKilobyte = 1024;

bool ParseHexRange(absl::string_view text, PageRange* range) {
  const std::vector<absl::string_view> ends = absl::StrSplit(text, '-');
  return ends.size() == 2 && absl::SimpleHexAtoi(ends[0], &range->start) &&
         absl::SimpleHexAtoi(ends[1], &range->end);
}

void AppendRange(const PageRange& range, std::vector<PageRange>* ranges) {
  if (!ranges->empty() && ranges->back().end == range.start) {
    ranges->back().end = range.end;
  } else {
    ranges->push_back(range);
  }
}

// Full aligned blocks of huge-page size inside the present ranges.
std::vector<PageRange> FullBlocks(const std::vector<PageRange>& present) {
  std::vector<PageRange> blocks;
  for (const PageRange& range : present) {
    const uint64_t start = (range.start + kHugePageSize - 1) / kHugePageSize * kHugePageSize;
    const uint64_t end = range.end / kHugePageSize * kHugePageSize;
    if (end > start) blocks.push_back({start, end});
  }
  return blocks;
}

}  // namespace

std::vector<HugeUse> ParseHugeUse(absl::string_view smaps_text) {
  std::vector<HugeUse> uses;
  HugeUse current;
  const auto keep = [&] {
    if (current.transparent_bytes > 0 || current.explicit_pages) uses.push_back(current);
  };
  for (const absl::string_view line : absl::StrSplit(smaps_text, '\n')) {
    // "KEY:   NUMBER kB", or the header of a mapping, "START-END PERMISSIONS ...".
    const size_t space = line.find(' ');
    if (space == absl::string_view::npos) continue;
    const absl::string_view key = line.substr(0, space);
    PageRange range;
    if (ParseHexRange(key, &range)) {
      keep();
      current = HugeUse{range, 0, false};
      continue;
    }
    uint64_t kilobytes = 0;
    absl::string_view value = line.substr(space);
    if (!absl::ConsumeSuffix(&value, "kB") || !absl::SimpleAtoi(value, &kilobytes)) continue;
    if (key == "AnonHugePages:" || key == "ShmemPmdMapped:" || key == "FilePmdMapped:") {
      current.transparent_bytes += kilobytes * kBytesPerKilobyte;
    }
    if (key == "KernelPageSize:") current.explicit_pages = kilobytes * kBytesPerKilobyte > kPageSize;
  }
  keep();
  return uses;
}

PresentPages SplitByHugeUse(const std::vector<PageRange>& present, const std::optional<HugeUse>& use) {
  PresentPages split;
  if (!use.has_value()) {
    split.base = present;
    return split;
  }
  if (use->explicit_pages) {
    split.huge = present;
    return split;
  }
  split.huge = FullBlocks(present);
  size_t next = 0;
  for (const PageRange& range : present) {
    uint64_t start = range.start;
    for (; next < split.huge.size() && split.huge[next].end <= range.end; ++next) {
      if (split.huge[next].start > start) split.base.push_back({start, split.huge[next].start});
      start = split.huge[next].end;
    }
    if (range.end > start) split.base.push_back({start, range.end});
  }
  return split;
}

absl::StatusOr<PresentPages> PagemapPresence::FindPresent(const Mapping& mapping) {
  const PageRange range{mapping.start, mapping.end};
  if (!scan_missing_) {
    PresentPages present;
    absl::StatusOr<bool> scanned = ScanPresent(range, &present);
    if (!scanned.ok()) return scanned.status();
    if (*scanned) return present;
    scan_missing_ = true;
  }
  return WalkPresent(range);
}

// False when this kernel has no PAGEMAP_SCAN.
absl::StatusOr<bool> PagemapPresence::ScanPresent(const PageRange& range, PresentPages* present) {
  ScanQuery query;
  query.all = kPagePresent;
  query.returned = kPagePresent | kPageHuge;
  query.max_pages = kMostPagesLocked;
  std::vector<PageRegion> buffer(kScanRegions);
  for (uint64_t from = range.start; from < range.end;) {
    absl::StatusOr<ScanResult> result =
        ScanPages(pagemap_->fd(), {from, range.end}, query, absl::MakeSpan(buffer));
    if (absl::IsUnavailable(result.status())) return false;
    if (!result.ok()) return result.status();
    for (const PageRegion& region : absl::MakeConstSpan(buffer).first(result->regions)) {
      AppendRange({region.start, region.end},
                  (region.categories & kPageHuge) != 0 ? &present->huge : &present->base);
    }
    if (result->walk_end <= from) break;
    from = result->walk_end;
  }
  return true;
}

absl::StatusOr<PresentPages> PagemapPresence::WalkPresent(const PageRange& range) {
  const bool cut = range.pages() > kMostPagesWalked;
  const PageRange walked{range.start, cut ? range.start + kMostPagesWalked * kPageSize : range.end};
  std::vector<PageRange> present;
  absl::Status status = ForEachEntry(
      {walked}, &entries_,
      [this](uint64_t start, absl::Span<uint64_t> entries) { return pagemap_->Read(start, entries); },
      [&](size_t, uint64_t address, uint64_t entry) {
        if ((entry & kEntryPresent) != 0) AppendPage(address, 0, &present);
      });
  if (!status.ok()) return status;
  // smaps walks the page tables of the whole process: only where a huge page can be at all.
  PresentPages pages = SplitByHugeUse(present, FullBlocks(present).empty() ? std::nullopt : HugeUseOf(range));
  pages.cut = cut;
  return pages;
}

std::optional<HugeUse> PagemapPresence::HugeUseOf(const PageRange& range) {
  constexpr size_t kMostText = 256 << 20;
  if (!huge_use_.has_value()) {
    absl::StatusOr<std::string> text = host_.ReadProcFile(pid_, "smaps", kMostText);
    // Without smaps every full block is in doubt.
    if (!text.ok()) return HugeUse{range, range.end - range.start, false};
    huge_use_ = ParseHugeUse(*text);
  }
  for (const HugeUse& use : *huge_use_) {
    if (use.range.start < range.end && use.range.end > range.start) return use;
  }
  return std::nullopt;
}

}  // namespace mempulse
