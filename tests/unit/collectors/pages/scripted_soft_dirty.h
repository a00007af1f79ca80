#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "collectors/pages/pagemap.h"
#include "collectors/pages/softdirty_kernel.h"

namespace mempulse {

// A process on a kernel with soft-dirty bits, as far as the tracker can see one: bits on pages, a dirty flag
// on each mapping that new, grown and merged ones carry until the next clear, time that passes with every
// call.
class ScriptedSoftDirty final : public SoftDirtyKernel {
 public:
  // ---- what the process does ----
  // Maps anonymous memory; joined to a neighbour that touches it, like the kernel does.
  void Map(uint64_t start, uint64_t pages) {
    uint64_t end = start + pages * kPageSize;
    for (auto it = areas_.begin(); it != areas_.end();) {
      if (it->second.end != start && it->first != end) {
        ++it;
        continue;
      }
      start = std::min(start, it->first);
      end = std::max(end, it->second.end);
      it = areas_.erase(it);
    }
    areas_[start] = {end, true};
  }
  void Unmap(uint64_t start) {
    const auto area = areas_.find(start);
    for (uint64_t page = start; page < area->second.end; page += kPageSize) Discard(page);
    areas_.erase(area);
  }
  void Write(uint64_t page) {
    const uint64_t block = page / kHugePageSize * kHugePageSize;
    if (huge_.count(block) == 0) {
      pages_[page] = true;
      owned_.insert(page);
      return;
    }
    for (uint64_t i = 0; i < kPagesPerHugePage; ++i) pages_[block + i * kPageSize] = true;
  }
  void Discard(uint64_t page) {
    pages_.erase(page);
    owned_.erase(page);
  }
  void ReadFault(uint64_t page) { pages_.emplace(page, false); }
  void MakeHuge(uint64_t block) {
    huge_.insert(block);
    for (uint64_t i = 0; i < kPagesPerHugePage; ++i) pages_.emplace(block + i * kPageSize, false);
  }
  void Exit() { gone_ = true; }
  // Another program clears the bits.
  void ClearFromOutside() {
    for (auto& [address, dirty] : pages_) dirty = false;
    for (auto& [start, area] : areas_) area.dirty = false;
  }
  // What a merge with a neighbour leaves behind when the neighbour is gone again.
  void MarkAsAWhole(uint64_t start) { areas_[start].dirty = true; }
  // A write between the look and the clear that follows it.
  void WriteBeforeNextClear(uint64_t page) { late_write_ = page; }
  void set_scans(bool scans) { scans_ = scans; }
  void set_clear_nanos(int64_t nanos) { clear_nanos_ = nanos; }
  void Advance(int64_t nanos) { nanos_ += nanos; }

  // ---- SoftDirtyKernel ----
  absl::Status Clear() override {
    if (gone_) return absl::NotFoundError("gone");
    if (late_write_ != 0) Write(std::exchange(late_write_, 0));
    nanos_ += clear_nanos_;
    ClearFromOutside();
    return absl::OkStatus();
  }
  absl::Status ReadEntries(uint64_t start, absl::Span<uint64_t> entries) override {
    if (gone_) return absl::NotFoundError("gone");
    nanos_ += 1000;
    for (size_t i = 0; i < entries.size(); ++i) entries[i] = EntryOf(start + i * kPageSize);
    return absl::OkStatus();
  }
  absl::Status ScanDirty(const PageRange& range, std::vector<PageRange>* dirty) override {
    ++scans_made;
    const size_t first = dirty->size();
    for (uint64_t page = range.start; page < range.end; page += kPageSize) {
      if ((EntryOf(page) & kEntrySoftDirty) != 0) AppendPage(page, first, dirty);
    }
    return absl::OkStatus();
  }
  bool scans() const override { return scans_; }
  absl::StatusOr<std::vector<Mapping>> ReadMappings() override {
    if (gone_) return absl::NotFoundError("gone");
    std::vector<Mapping> mappings;
    for (const auto& [start, area] : areas_) {
      Mapping mapping;
      mapping.start = start;
      mapping.end = area.end;
      mapping.readable = mapping.writable = true;
      mapping.kind = RegionKind::kAnon;
      mappings.push_back(mapping);
    }
    return mappings;
  }
  absl::StatusOr<PresentPages> FindPresent(const Mapping& mapping) override {
    if (gone_) return absl::NotFoundError("gone");
    PresentPages present;
    for (uint64_t page = mapping.start; page < mapping.end; page += kPageSize) {
      if (pages_.count(page) == 0) continue;
      const bool huge = huge_.count(page / kHugePageSize * kHugePageSize) != 0;
      AppendPage(page, 0, huge ? &present.huge : &present.base);
    }
    return present;
  }
  int64_t MonotonicNanos() override { return nanos_; }

  int scans_made = 0;

 private:
  struct Area {
    uint64_t end = 0;
    bool dirty = false;
  };

  uint64_t EntryOf(uint64_t page) const {
    auto area = areas_.upper_bound(page);
    const bool area_dirty = area != areas_.begin() && (--area)->second.dirty;
    const auto state = pages_.find(page);
    if (state == pages_.end()) return area_dirty ? kEntrySoftDirty : 0;
    const uint64_t exclusive = state->second || owned_.count(page) != 0 ? kEntryExclusive : 0;
    return kEntryPresent | exclusive | (state->second || area_dirty ? kEntrySoftDirty : 0);
  }

  std::map<uint64_t, Area> areas_;
  std::map<uint64_t, bool> pages_;  // present pages and whether their own bit is set
  std::set<uint64_t> owned_;        // written at some time: no longer the shared page of zeros
  std::set<uint64_t> huge_;
  uint64_t late_write_ = 0;
  int64_t nanos_ = 1'000'000;
  int64_t clear_nanos_ = 20'000;
  bool scans_ = false;
  bool gone_ = false;
};

}  // namespace mempulse
