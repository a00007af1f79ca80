#include "collectors/pages/softdirty_marks.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "collectors/pages/pagemap.h"

namespace mempulse {
namespace {

constexpr uint64_t kProbes = 16;  // spread over the mapping, both ends included

}  // namespace

void MappingMarks::Learn(absl::Span<const Mapping> mappings) {
  std::map<uint64_t, Area> areas;
  for (const Mapping& mapping : mappings) {
    Area& area = areas[mapping.start];
    area.end = mapping.end;
    const auto known = areas_.find(mapping.start);
    if (known != areas_.end() && known->second.end == mapping.end) area = known->second;
  }
  areas_ = std::move(areas);
  chosen_ = false;
}

absl::StatusOr<MappingMarks::Answer> MappingMarks::Ask(uint64_t page) {
  uint64_t entry = 0;
  if (absl::Status status = kernel_->ReadEntries(page, absl::MakeSpan(&entry, 1)); !status.ok()) {
    return status;
  }
  if ((entry & kEntrySoftDirty) == 0) return Answer::kClean;
  return (entry & (kEntryPresent | kEntrySwapped)) == 0 ? Answer::kMarked : Answer::kUnknown;
}

absl::Status MappingMarks::Choose() {
  if (std::exchange(chosen_, true)) return absl::OkStatus();
  for (auto& [start, area] : areas_) {
    if (area.mark != 0 || area.accused) continue;
    if (const absl::StatusOr<Answer> answer = Probe(start, &area); !answer.ok()) return answer.status();
  }
  return absl::OkStatus();
}

// Pages spread over the mapping, until one of them settles it; a clean one becomes the mark.
absl::StatusOr<MappingMarks::Answer> MappingMarks::Probe(uint64_t start, Area* area) {
  const uint64_t last = (area->end - start) / kPageSize - 1;
  for (uint64_t probe = 0; probe < kProbes; ++probe) {
    const uint64_t page = start + last * probe / (kProbes - 1) * kPageSize;
    const absl::StatusOr<Answer> answer = Ask(page);
    if (!answer.ok()) return answer.status();
    if (*answer == Answer::kClean) area->mark = page;
    if (*answer != Answer::kUnknown) return answer;
  }
  return Answer::kUnknown;
}

absl::StatusOr<bool> MappingMarks::IsMarked(uint64_t start, Area* area) {
  const uint64_t mark = area->mark;
  if (mark != 0) {
    const absl::StatusOr<Answer> answer = Ask(mark);
    if (!answer.ok()) return answer.status();
    if (*answer != Answer::kUnknown) return *answer == Answer::kMarked;
  }
  const absl::StatusOr<Answer> answer = Probe(start, area);
  if (!answer.ok()) return answer.status();
  if (*answer != Answer::kUnknown) return *answer == Answer::kMarked;
  area->mark = 0;
  return mark != 0 && !std::exchange(area->accused, true);
}

absl::StatusOr<bool> MappingMarks::ReadsDirtyAsAWhole(absl::Span<const PageRange> written) {
  uint64_t asked_until = 0;
  for (const PageRange& range : written) {
    for (uint64_t address = std::max(range.start, asked_until); address < range.end; address = asked_until) {
      auto area = areas_.upper_bound(address);
      if (area != areas_.begin() && std::prev(area)->second.end > address) --area;
      if (area == areas_.end() || area->first >= range.end) break;
      const absl::StatusOr<bool> marked = IsMarked(area->first, &area->second);
      if (!marked.ok() || *marked) return marked;
      asked_until = area->second.end;
    }
  }
  return false;
}

}  // namespace mempulse
