#include "collectors/pages/softdirty_tracker.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "collectors/pages/pagemap.h"
#include "collectors/pages/softdirty_kernel.h"
#include "collectors/pages/softdirty_mappings.h"
#include "collectors/pages/softdirty_marks.h"
#include "collectors/pages/softdirty_witnesses.h"

namespace mempulse {
namespace {

constexpr uint64_t kScanFromPages = 2048;       // below that one read of entries is cheaper than the ioctl
constexpr int64_t kFloorWindowNanos = 250'000;  // a read and a clear take tens of microseconds at best
constexpr int kWindowsPerClear = 4;             // the window is uncertain by the length of one clear
constexpr int kLossesToName = 3;                // windows that somebody else's clear has spoiled

uint64_t CountPages(absl::Span<const PageRange> ranges) {
  uint64_t pages = 0;
  for (const PageRange& range : ranges) pages += range.pages();
  return pages;
}

class SoftDirtyTracker final : public PageTracker {
 public:
  explicit SoftDirtyTracker(std::unique_ptr<SoftDirtyKernel> kernel)
      : kernel_(std::move(kernel)), witnesses_(kernel_.get()), marks_(kernel_.get()) {
    traits_.atomic = false;
    traits_.resets_range = false;
    traits_.sees_restores = true;
    traits_.target_seconds_per_hit = 1.0e-6;
    traits_.seconds_per_page_looked = 10e-9;
    traits_.seconds_per_call = 1.0e-6;
    traits_.shortest_window_nanos = kFloorWindowNanos;
  }

  TrackerKind kind() const override { return TrackerKind::kSoftDirty; }
  const TrackerTraits& traits() const override { return traits_; }
  ObserverEffect effect() const override { return effect_; }

  absl::StatusOr<Coverage> Cover(absl::Span<const Mapping> mappings, const CoverOptions& options) override;
  absl::StatusOr<Instant> Reset(absl::Span<const PageRange> ranges) override;
  absl::StatusOr<Instant> Look(absl::Span<const PageRange> ranges, std::vector<PageRange>* written) override;
  absl::StatusOr<Instant> LookAndReset(absl::Span<const PageRange> ranges, std::vector<PageRange>* written,
                                       Instant* reset) override;
  absl::Status Glance() override { return cleared_ ? witnesses_.Watch() : absl::OkStatus(); }
  bool LookSpoiled() const override { return spoiled_; }
  std::vector<PageRange> Distrusted() override;

 private:
  absl::Status CollectDirty(absl::Span<const PageRange> ranges, std::vector<PageRange>* written);
  absl::Status CheckWitnesses();
  absl::Status CheckMarks(absl::Span<const PageRange> written);
  void NoteHugeSuspects(absl::Span<const PageRange> written);
  std::vector<PageRange> ConfirmHugeSuspects(absl::Span<const Mapping> mappings);
  void CountHits(uint64_t hits);
  absl::StatusOr<Instant> Clear();

  std::unique_ptr<SoftDirtyKernel> kernel_;
  TrackerTraits traits_;
  ObserverEffect effect_;
  std::vector<uint64_t> entries_;  // reused buffer
  bool include_huge_ = false;

  bool cleared_ = false;       // the bits mean "since our clear", no longer "since the process started"
  uint64_t counted_hits_ = 0;  // of this window, already in effect_

  bool known_valid_ = false;
  std::vector<Mapping> known_;      // at the last Cover or Distrusted
  std::vector<PageRange> pending_;  // changes found by Cover since the last clear
  std::vector<PageRange>
      carried_;  // changes found by the last Distrusted: they may belong to the next window
  std::vector<uint64_t> suspects_;  // starts of huge-page-sized blocks that were dirty as a whole
  ClearWitnesses witnesses_;
  MappingMarks marks_;
  bool spoiled_ = false;  // the last look
};

absl::StatusOr<Coverage> SoftDirtyTracker::Cover(absl::Span<const Mapping> mappings,
                                                 const CoverOptions& options) {
  include_huge_ = options.include_huge;
  absl::StatusOr<std::vector<Mapping>> now = kernel_->ReadMappings();
  if (!now.ok()) return now.status();
  if (known_valid_) {
    const std::vector<PageRange> changed = ChangedMappings(known_, *now);
    pending_.insert(pending_.end(), changed.begin(), changed.end());
  }
  known_ = std::move(*now);
  known_valid_ = true;
  marks_.Learn(known_);
  return CoverPresentPages(mappings, options, CoverageRules{}, kernel_.get());
}

absl::StatusOr<Instant> SoftDirtyTracker::Clear() {
  Instant at;
  at.begin_nanos = kernel_->MonotonicNanos();
  if (absl::Status status = kernel_->Clear(); !status.ok()) return status;
  at.end_nanos = kernel_->MonotonicNanos();
  const int64_t cost = at.end_nanos - at.begin_nanos;
  effect_.lock_seconds += static_cast<double>(cost) * 1e-9;
  // Slowly down, at once up: one quick clear does not make short windows trustworthy.
  const int64_t wanted = std::max(kFloorWindowNanos, cost * kWindowsPerClear);
  const int64_t current = traits_.shortest_window_nanos;
  traits_.shortest_window_nanos =
      wanted > current ? current + (wanted - current + 1) / 2 : current - (current - wanted) / 8;
  cleared_ = true;
  counted_hits_ = 0;
  witnesses_.Restart();
  return at;
}

absl::StatusOr<Instant> SoftDirtyTracker::Reset(absl::Span<const PageRange>) {
  absl::StatusOr<Instant> at = Clear();
  if (!at.ok()) return at;
  // Whatever changed before this clear was cleared with it.
  pending_.clear();
  carried_.clear();
  suspects_.clear();
  return at;
}

absl::StatusOr<Instant> SoftDirtyTracker::Look(absl::Span<const PageRange> ranges,
                                               std::vector<PageRange>* written) {
  spoiled_ = false;
  if (absl::Status status = CheckWitnesses(); !status.ok()) return status;
  const size_t first = written->size();
  Instant at;
  at.begin_nanos = kernel_->MonotonicNanos();
  if (absl::Status status = CollectDirty(ranges, written); !status.ok()) return status;
  at.end_nanos = kernel_->MonotonicNanos();
  effect_.lock_seconds += static_cast<double>(at.end_nanos - at.begin_nanos) * 1e-9;
  const absl::Span<const PageRange> found = absl::MakeConstSpan(*written).subspan(first);
  CountHits(CountPages(found));
  NoteHugeSuspects(found);
  witnesses_.Note(found);
  if (absl::Status status = CheckMarks(found); !status.ok()) return status;
  return at;
}

absl::StatusOr<Instant> SoftDirtyTracker::LookAndReset(absl::Span<const PageRange> ranges,
                                                       std::vector<PageRange>* written, Instant* reset) {
  absl::StatusOr<Instant> looked = Look(ranges, written);
  if (!looked.ok()) return looked;
  absl::StatusOr<Instant> cleared = Clear();
  if (!cleared.ok()) return cleared.status();
  *reset = *cleared;
  return looked;
}

absl::Status SoftDirtyTracker::CollectDirty(absl::Span<const PageRange> ranges,
                                            std::vector<PageRange>* written) {
  size_t next = 0;
  while (next < ranges.size()) {
    if (kernel_->scans() && ranges[next].pages() >= kScanFromPages) {
      if (absl::Status status = kernel_->ScanDirty(ranges[next], written); !status.ok()) return status;
      ++next;
      continue;
    }
    size_t end = next + 1;
    while (end < ranges.size() && !(kernel_->scans() && ranges[end].pages() >= kScanFromPages)) ++end;
    size_t current = ranges.size();
    size_t first = written->size();
    absl::Status status = ForEachEntry(
        ranges.subspan(next, end - next), &entries_,
        [this](uint64_t start, absl::Span<uint64_t> entries) { return kernel_->ReadEntries(start, entries); },
        [&](size_t range, uint64_t address, uint64_t entry) {
          if (range != current) first = written->size();
          current = range;
          constexpr uint64_t kWritten = kEntryPresent | kEntrySoftDirty;
          if ((entry & kWritten) == kWritten) AppendPage(address, first, written);
        });
    if (!status.ok()) return status;
    next = end;
  }
  return absl::OkStatus();
}

void SoftDirtyTracker::CountHits(uint64_t hits) {
  if (!cleared_ || hits <= counted_hits_) return;
  effect_.induced_faults += hits - counted_hits_;
  counted_hits_ = hits;
}

// Somebody else's clear (CRIU, a second exporter) takes hits away. One spoils its window; who clears again
// and again spoils everything.
absl::Status SoftDirtyTracker::CheckWitnesses() {
  const absl::StatusOr<bool> lost = witnesses_.Check();
  if (!lost.ok()) return lost.status();
  spoiled_ |= *lost;
  if (!*lost || witnesses_.losses() < kLossesToName) return absl::OkStatus();
  return absl::AbortedError("foreign_tracker: another process clears the soft-dirty bits of the target");
}

absl::Status SoftDirtyTracker::CheckMarks(absl::Span<const PageRange> written) {
  if (!cleared_) return absl::OkStatus();
  if (absl::Status status = marks_.Choose(); !status.ok()) return status;
  const absl::StatusOr<bool> whole = marks_.ReadsDirtyAsAWhole(written);
  if (!whole.ok()) return whole.status();
  spoiled_ |= *whole;
  return absl::OkStatus();
}

// A mapping without huge pages at the last Cover may have been given some since (khugepaged): one write then
// turns 512 pages dirty. Such blocks are remembered here and looked into by Distrusted.
void SoftDirtyTracker::NoteHugeSuspects(absl::Span<const PageRange> written) {
  if (include_huge_) return;
  for (const PageRange& range : written) {
    if (range.pages() < kPagesPerHugePage) continue;
    uint64_t block = (range.start + kHugePageSize - 1) / kHugePageSize * kHugePageSize;
    for (; block + kHugePageSize <= range.end; block += kHugePageSize) suspects_.push_back(block);
  }
}

std::vector<PageRange> SoftDirtyTracker::ConfirmHugeSuspects(absl::Span<const Mapping> mappings) {
  std::sort(suspects_.begin(), suspects_.end());
  std::vector<PageRange> confirmed;
  size_t next = 0;
  for (const Mapping& mapping : mappings) {
    while (next < suspects_.size() && suspects_[next] < mapping.start) ++next;
    if (next == suspects_.size()) break;
    if (suspects_[next] >= mapping.end) continue;
    const absl::StatusOr<PresentPages> present = kernel_->FindPresent(mapping);
    if (!present.ok()) {
      confirmed.push_back({mapping.start, mapping.end});
      continue;
    }
    confirmed.insert(confirmed.end(), present->huge.begin(), present->huge.end());
  }
  suspects_.clear();
  return confirmed;
}

std::vector<PageRange> SoftDirtyTracker::Distrusted() {
  absl::StatusOr<std::vector<Mapping>> now = kernel_->ReadMappings();
  if (!now.ok()) return {{0, std::numeric_limits<uint64_t>::max() / kPageSize * kPageSize}};
  std::vector<PageRange> changed;
  if (known_valid_) changed = ChangedMappings(known_, *now);
  std::vector<PageRange> distrusted = ConfirmHugeSuspects(*now);
  for (const std::vector<PageRange>* part : {&changed, &carried_, &pending_}) {
    distrusted.insert(distrusted.end(), part->begin(), part->end());
  }
  std::sort(distrusted.begin(), distrusted.end(),
            [](const PageRange& a, const PageRange& b) { return a.start < b.start; });
  distrusted.erase(std::unique(distrusted.begin(), distrusted.end()), distrusted.end());
  // A change found now may have come after the clear that opened the next window: that one is not safe
  // either.
  carried_ = std::move(changed);
  pending_.clear();
  known_ = std::move(*now);
  known_valid_ = true;
  marks_.Learn(known_);
  return distrusted;
}

}  // namespace

std::unique_ptr<PageTracker> MakeSoftDirtyTracker(std::unique_ptr<SoftDirtyKernel> kernel) {
  return std::make_unique<SoftDirtyTracker>(std::move(kernel));
}

absl::StatusOr<std::unique_ptr<PageTracker>> OpenSoftDirtyTracker(const Host& host, const Target& target) {
  absl::StatusOr<std::unique_ptr<SoftDirtyKernel>> kernel = OpenSoftDirtyKernel(host, target);
  if (!kernel.ok()) return kernel.status();
  return MakeSoftDirtyTracker(std::move(*kernel));
}

}  // namespace mempulse
