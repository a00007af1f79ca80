#include "collectors/pages/writeprotect_scanner.h"

#include <time.h>

#include <algorithm>

#include "collectors/pages/range_set.h"

namespace mempulse {
namespace {

constexpr uint64_t kPiecePages = 65536;    // 0.15 ms of lock time, 4 ms when protected for the first time
constexpr uint64_t kExactPages = 1024;     // up to here the exact mask costs next to nothing
constexpr uint64_t kClusterGapPages = 64;  // reported runs this close are asked about in one call
constexpr size_t kMostRegions = 8192;
constexpr int64_t kLongPieceNanos = 500'000;
constexpr int64_t kMostPauseNanos = 10'000'000;

int64_t MonotonicNanos() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1'000'000'000LL + now.tv_nsec;
}

// Only first passes over much memory take this long: without a real pause the target's mmap would starve.
void PauseAfter(int64_t nanos) {
  if (nanos < kLongPieceNanos) return;
  const timespec pause{0, std::min(nanos, kMostPauseNanos)};
  nanosleep(&pause, nullptr);
}

void AppendJoined(PageRange range, size_t first, std::vector<PageRange>* ranges) {
  if (ranges->size() > first && ranges->back().end == range.start) {
    ranges->back().end = range.end;
  } else {
    ranges->push_back(range);
  }
}

uint64_t UnwantedCategories(bool private_file) { return private_file ? kPageZero | kPageFile : kPageZero; }

ScanQuery ExactQuery(uint64_t wanted, bool private_file) {
  ScanQuery query;
  query.inverted = UnwantedCategories(private_file);
  query.all = wanted | query.inverted;
  query.returned = kPagePresent;
  return query;
}

ScanQuery FastQuery() {
  ScanQuery query;
  query.all = kPageWritten;
  query.returned = kPageWritten;
  return query;
}

}  // namespace

WrittenScanner::WrittenScanner(int pagemap_fd) : pagemap_fd_(pagemap_fd), buffer_(kMostRegions) {}

absl::StatusOr<Instant> WrittenScanner::Scan(absl::Span<const ScanRange> ranges, bool reset,
                                             std::vector<PageRange>* written) {
  reported_.clear();
  segments_.clear();
  Instant instant;
  instant.begin_nanos = MonotonicNanos();
  for (const ScanRange& wanted : ranges) {
    Segment segment{reported_.size(), 0, wanted.private_file, false};
    // A reset alone stays exact: the fast path would also mark pages that are not there.
    segment.exact = written == nullptr || wanted.range.pages() <= kExactPages;
    ScanQuery query =
        segment.exact ? ExactQuery(kPageWritten | kPagePresent, wanted.private_file) : FastQuery();
    query.flags = reset ? kScanProtect | kScanNeedsWpAsync : uint64_t{kScanNeedsWpAsync};
    if (absl::Status status = ScanPieces(wanted.range, query, &reported_); !status.ok()) return status;
    segment.last = reported_.size();
    if (segment.last > segment.first) segments_.push_back(segment);
  }
  instant.end_nanos = MonotonicNanos();
  call_seconds_ += static_cast<double>(instant.end_nanos - instant.begin_nanos) * 1e-9;
  if (written == nullptr) return instant;
  for (const Segment& segment : segments_) {
    if (absl::Status status = AppendConfirmed(segment, written); !status.ok()) return status;
  }
  return instant;
}

absl::Status WrittenScanner::ScanPieces(PageRange range, const ScanQuery& query,
                                        std::vector<PageRange>* found) {
  const size_t first = found->size();
  for (uint64_t from = range.start; from < range.end;) {
    const PageRange piece{from, std::min(range.end, from + kPiecePages * kPageSize)};
    // The kernel allocates by the length it is told, so a single page must not ask for thousands.
    const size_t room = std::min<uint64_t>(buffer_.size(), piece.pages() / 2 + 1);
    const bool last = piece.end == range.end;  // the usual case costs no look at the clock
    const int64_t begin = last ? 0 : MonotonicNanos();
    absl::StatusOr<ScanResult> result =
        ScanPages(pagemap_fd_, piece, query, absl::MakeSpan(buffer_).first(room));
    if (!result.ok()) return result.status();
    for (size_t i = 0; i < result->regions; ++i)
      AppendJoined({buffer_[i].start, buffer_[i].end}, first, found);
    if (result->walk_end <= from) break;  // part of a huge page of hugetlbfs: cannot be protected
    from = result->walk_end;
    if (!last) PauseAfter(MonotonicNanos() - begin);
  }
  return absl::OkStatus();
}

absl::Status WrittenScanner::AppendConfirmed(const Segment& segment, std::vector<PageRange>* written) {
  const absl::Span<const PageRange> runs =
      absl::MakeConstSpan(reported_).subspan(segment.first, segment.last - segment.first);
  if (segment.exact) {
    written->insert(written->end(), runs.begin(), runs.end());
    return absl::OkStatus();
  }
  ScanQuery query = ExactQuery(kPagePresent, segment.private_file);
  confirmed_.clear();
  for (size_t i = 0; i < runs.size();) {
    PageRange cluster = runs[i++];
    while (i < runs.size() && runs[i].start <= cluster.end + kClusterGapPages * kPageSize)
      cluster.end = runs[i++].end;
    if (absl::Status status = ScanPieces(cluster, query, &confirmed_); !status.ok()) return status;
  }
  const std::vector<PageRange> both = IntersectRanges(runs, confirmed_);
  written->insert(written->end(), both.begin(), both.end());
  return absl::OkStatus();
}

}  // namespace mempulse
