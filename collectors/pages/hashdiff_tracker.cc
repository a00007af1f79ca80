#include "collectors/pages/hashdiff_tracker.h"

#include <fcntl.h>
#include <unistd.h>
#include <xxhash.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "collectors/host/clock.h"
#include "collectors/host/errno_status.h"
#include "collectors/pages/coverage.h"
#include "collectors/pages/page_hashes.h"
#include "collectors/pages/pagemap.h"
#include "collectors/pages/pagemap_presence.h"

namespace mempulse {
namespace {

constexpr uint64_t kBatchPages = 64;
constexpr uint64_t kSlicePages = 4096;
constexpr size_t kSliceRanges = 256;
constexpr int64_t kShortestWindowNanos = 100'000;

class HashDiffTracker final : public PageTracker {
 public:
  HashDiffTracker(const Host& host, pid_t pid, Pagemap pagemap, UniqueFd memory, double seconds_per_page)
      : pagemap_(std::move(pagemap)),
        presence_(host, pid, &pagemap_),
        memory_(std::move(memory)),
        bytes_(kBatchPages * kPageSize) {
    traits_.atomic = true;
    traits_.resets_range = true;
    traits_.sees_restores = false;
    traits_.target_seconds_per_hit = 0;
    traits_.seconds_per_page_looked = seconds_per_page;
    traits_.seconds_per_call = 1.5e-6;
    traits_.shortest_window_nanos = kShortestWindowNanos;
  }
  // presence_ points at pagemap_.
  HashDiffTracker(const HashDiffTracker&) = delete;
  HashDiffTracker& operator=(const HashDiffTracker&) = delete;

  TrackerKind kind() const override { return TrackerKind::kHashDiff; }
  const TrackerTraits& traits() const override { return traits_; }
  ObserverEffect effect() const override { return effect_; }

  absl::StatusOr<Coverage> Cover(absl::Span<const Mapping> mappings, const CoverOptions& options) override {
    presence_.Forget();
    absl::StatusOr<Coverage> coverage =
        CoverPresentPages(mappings, options, CoverageRules{.needs_readable = true}, &presence_);
    if (coverage.ok()) hashes_.Assign(coverage->ranges);
    return coverage;
  }

  absl::StatusOr<Instant> Reset(absl::Span<const PageRange> ranges) override {
    return Walk(ranges, Mode{.compare = false, .replace = true}, nullptr);
  }
  absl::StatusOr<Instant> Look(absl::Span<const PageRange> ranges, std::vector<PageRange>* written) override {
    return Walk(ranges, Mode{.compare = true, .replace = false}, written);
  }
  absl::StatusOr<Instant> LookAndReset(absl::Span<const PageRange> ranges, std::vector<PageRange>* written,
                                       Instant* reset) override {
    absl::StatusOr<Instant> at = Walk(ranges, Mode{.compare = true, .replace = true}, written);
    if (at.ok()) *reset = *at;
    return at;
  }

 private:
  struct Mode {
    bool compare = false;
    bool replace = false;
  };
  struct Position {
    size_t index = 0;      // of the range
    uint64_t address = 0;  // in it; 0 is its start
  };

  absl::StatusOr<Instant> Walk(absl::Span<const PageRange> ranges, Mode mode,
                               std::vector<PageRange>* written);
  bool FillSlice(absl::Span<const PageRange> ranges, Position* position);
  absl::Status FindPresent();
  absl::Status ReadRun(const PageRange& run, Mode mode, size_t first, std::vector<PageRange>* written);
  absl::StatusOr<uint64_t> ReadBatch(uint64_t start, uint64_t pages);
  void Judge(uint64_t address, uint64_t hash, uint64_t* kept, Mode mode, size_t first,
             std::vector<PageRange>* written);

  Pagemap pagemap_;
  PagemapPresence presence_;
  UniqueFd memory_;
  SystemClock clock_;
  TrackerTraits traits_;
  ObserverEffect effect_;
  PageHashes hashes_;
  std::vector<char> bytes_;
  std::vector<uint64_t> entries_;
  std::vector<PageRange> slice_;
  std::vector<size_t> slice_owners_;                   // the caller's range that each part was cut from
  std::vector<std::pair<size_t, PageRange>> present_;  // runs to read, by index into slice_
};

absl::StatusOr<Instant> HashDiffTracker::Walk(absl::Span<const PageRange> ranges, Mode mode,
                                              std::vector<PageRange>* written) {
  Instant at;
  at.begin_nanos = clock_.MonotonicNanos();
  size_t first = 0;
  size_t current = ranges.size();
  Position position;
  while (FillSlice(ranges, &position)) {
    if (absl::Status status = FindPresent(); !status.ok()) return status;
    for (const auto& [index, run] : present_) {
      if (slice_owners_[index] != current && written != nullptr) first = written->size();
      current = slice_owners_[index];
      if (absl::Status status = ReadRun(run, mode, first, written); !status.ok()) return status;
    }
  }
  at.end_nanos = clock_.MonotonicNanos();
  effect_.lock_seconds += static_cast<double>(at.end_nanos - at.begin_nanos) * 1e-9;
  return at;
}

// The next few thousand pages. Presence is read for one slice at a time, shortly before its pages: a page
// that is discarded in between would be populated by our read.
bool HashDiffTracker::FillSlice(absl::Span<const PageRange> ranges, Position* position) {
  slice_.clear();
  slice_owners_.clear();
  uint64_t room = kSlicePages;
  while (room > 0 && slice_.size() < kSliceRanges && position->index < ranges.size()) {
    const PageRange& range = ranges[position->index];
    const uint64_t start = std::max(range.start, position->address);
    const uint64_t end = start + std::min(room, (range.end - start) / kPageSize) * kPageSize;
    if (end > start) {
      slice_.push_back({start, end});
      slice_owners_.push_back(position->index);
    }
    room -= (end - start) / kPageSize;
    position->address = end;
    if (end >= range.end) *position = {position->index + 1, 0};
  }
  return !slice_.empty();
}

// Fills present_ with the pages of the slice that may be read and marks the others absent.
absl::Status HashDiffTracker::FindPresent() {
  present_.clear();
  return ForEachEntry(
      slice_, &entries_,
      [this](uint64_t start, absl::Span<uint64_t> entries) { return pagemap_.Read(start, entries); },
      [this](size_t index, uint64_t address, uint64_t entry) {
        if ((entry & kEntryPresent) == 0) {
          if (absl::Span<uint64_t> kept = hashes_.From(address); !kept.empty()) kept[0] = PageHashes::kAbsent;
          return;
        }
        if (!present_.empty() && present_.back().first == index && present_.back().second.end == address) {
          present_.back().second.end += kPageSize;
        } else {
          present_.emplace_back(index, PageRange{address, address + kPageSize});
        }
      });
}

absl::Status HashDiffTracker::ReadRun(const PageRange& run, Mode mode, size_t first,
                                      std::vector<PageRange>* written) {
  uint64_t address = run.start;
  while (address < run.end) {
    const absl::Span<uint64_t> kept = hashes_.From(address);
    if (kept.empty()) {  // not covered (any more): unwritten
      address += kPageSize;
      continue;
    }
    const uint64_t pages = std::min<uint64_t>({kBatchPages, (run.end - address) / kPageSize, kept.size()});
    absl::StatusOr<uint64_t> got = ReadBatch(address, pages);
    if (!got.ok()) return got.status();
    for (uint64_t i = 0; i < *got; ++i) {
      const uint64_t hash = XXH3_64bits(bytes_.data() + i * kPageSize, kPageSize);
      Judge(address + i * kPageSize, PageHashes::Kept(hash), &kept[i], mode, first, written);
    }
    address += *got * kPageSize;
    if (*got == pages) continue;
    kept[*got] = PageHashes::kAbsent;
    address += kPageSize;
  }
  return absl::OkStatus();
}

// How many whole pages of the batch could be read; the page after them has vanished.
absl::StatusOr<uint64_t> HashDiffTracker::ReadBatch(uint64_t start, uint64_t pages) {
  for (;;) {
    const ssize_t got = pread(memory_.get(), bytes_.data(), pages * kPageSize, static_cast<off_t>(start));
    if (got > 0) return static_cast<uint64_t>(got) / kPageSize;
    if (got == 0) return absl::NotFoundError("mem: the address space is gone");
    if (errno == EINTR) continue;
    if (errno == EIO || errno == EFAULT) return 0;
    return ErrnoStatus("read", "mem");
  }
}

void HashDiffTracker::Judge(uint64_t address, uint64_t hash, uint64_t* kept, Mode mode, size_t first,
                            std::vector<PageRange>* written) {
  const uint64_t before = *kept;
  if (mode.compare && before != PageHashes::kUnknown && before != hash) AppendPage(address, first, written);
  if (mode.replace || before == PageHashes::kUnknown) *kept = hash;
}

absl::StatusOr<UniqueFd> OpenMemory(const Host& host, pid_t pid) {
  return host.Open(host.ProcPath(pid, "mem"), O_RDONLY);
}

// What one page costs on this machine: pages of our own, read the same way.
double MeasureSecondsPerPage(const Host& host) {
  constexpr double kUsual = 1.7e-6;
  constexpr int kRounds = 8;  // the quickest counts: others share the machine
  absl::StatusOr<UniqueFd> memory = host.Open(host.procfs() + "/self/mem", O_RDONLY);
  if (!memory.ok()) return kUsual;
  std::vector<char> pages(kBatchPages * kPageSize, 1);
  std::vector<char> copy(pages.size());
  SystemClock clock;
  int64_t best = 0;
  for (int round = 0; round < kRounds; ++round) {
    const int64_t begin = clock.MonotonicNanos();
    const ssize_t got = pread(memory->get(), copy.data(), copy.size(),
                              static_cast<off_t>(reinterpret_cast<uintptr_t>(pages.data())));
    if (got != static_cast<ssize_t>(copy.size())) return kUsual;
    volatile uint64_t sink = 0;
    for (uint64_t i = 0; i < kBatchPages; ++i) {
      sink = sink ^ XXH3_64bits(copy.data() + i * kPageSize, kPageSize);
    }
    const int64_t cost = clock.MonotonicNanos() - begin;
    if (best == 0 || cost < best) best = cost;
  }
  return static_cast<double>(best) * 1e-9 / kBatchPages;
}

}  // namespace

absl::StatusOr<std::unique_ptr<PageTracker>> OpenHashDiffTracker(const Host& host, const Target& target) {
  absl::StatusOr<Pagemap> pagemap = Pagemap::Open(host, target.pid());
  if (!pagemap.ok()) return pagemap.status();
  absl::StatusOr<UniqueFd> memory = OpenMemory(host, target.pid());
  if (!memory.ok()) return memory.status();
  return std::make_unique<HashDiffTracker>(host, target.pid(), std::move(*pagemap), std::move(*memory),
                                           MeasureSecondsPerPage(host));
}

}  // namespace mempulse
