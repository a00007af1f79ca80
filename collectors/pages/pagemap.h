#pragma once

#include <sys/types.h>

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "collectors/host/host.h"
#include "collectors/host/unique_fd.h"
#include "collectors/pages/page_range.h"

namespace mempulse {

// Bits of an entry of /proc/PID/pagemap.
inline constexpr uint64_t kEntryPresent = uint64_t{1} << 63;
inline constexpr uint64_t kEntrySwapped = uint64_t{1} << 62;
inline constexpr uint64_t kEntryFileOrShared = uint64_t{1} << 61;
inline constexpr uint64_t kEntryWriteProtected = uint64_t{1} << 57;  // by a userfaultfd
inline constexpr uint64_t kEntryExclusive = uint64_t{1} << 56;
inline constexpr uint64_t kEntrySoftDirty = uint64_t{1} << 55;
inline constexpr uint64_t kEntryFrameMask = kEntrySoftDirty - 1;  // 0 without CAP_SYS_ADMIN

// The base pages under a transparent or explicit huge page on x86-64.
inline constexpr uint64_t kPagesPerHugePage = 512;
inline constexpr uint64_t kHugePageSize = kPagesPerHugePage * kPageSize;

// The address space that a process had when this was opened. Reading touches no page of it: nothing is
// populated, swapped in or marked. Not thread-safe. Errors: NotFound when the process exited or executed
// another program.
class Pagemap {
 public:
  static absl::StatusOr<Pagemap> Open(const Host& host, pid_t pid);

  int fd() const { return fd_.get(); }

  // Fills `entries` for the pages from address `start` on. Unmapped and never touched pages read 0.
  absl::Status Read(uint64_t start, absl::Span<uint64_t> entries) const;

 private:
  explicit Pagemap(UniqueFd fd) : fd_(std::move(fd)) {}

  UniqueFd fd_;
};

// Calls visit(range_index, address, entry) for every page of the ranges, ascending when they are. `read` is
// absl::Status(uint64_t start, absl::Span<uint64_t> entries); neighbouring small ranges share one read.
template <typename Read, typename Visit>
absl::Status ForEachEntry(absl::Span<const PageRange> ranges, std::vector<uint64_t>* buffer, Read read,
                          Visit visit);

// Appends one page to an ascending list of ranges, joining it to the last when they touch. Ranges before
// `first` (an index) are never extended.
void AppendPage(uint64_t address, size_t first, std::vector<PageRange>* ranges);

// ---- implementation of the template ----

template <typename Read, typename Visit>
absl::Status ForEachEntry(absl::Span<const PageRange> ranges, std::vector<uint64_t>* buffer, Read read,
                          Visit visit) {
  constexpr uint64_t kSharedGap = 64 * kPageSize;  // entries cost less than another call up to here
  constexpr uint64_t kChunk = 16384 * kPageSize;
  size_t index = 0;
  while (index < ranges.size()) {
    size_t last = index;
    while (last + 1 < ranges.size() && ranges[last + 1].start >= ranges[last].end &&
           ranges[last + 1].start - ranges[last].end <= kSharedGap &&
           ranges[last + 1].end - ranges[index].start <= kChunk) {
      ++last;
    }
    const uint64_t end = ranges[last].end;
    for (uint64_t start = ranges[index].start; start < end; start += kChunk) {
      const uint64_t stop = end - start < kChunk ? end : start + kChunk;
      buffer->resize((stop - start) / kPageSize);
      if (absl::Status status = read(start, absl::MakeSpan(*buffer)); !status.ok()) return status;
      for (size_t i = index; i <= last; ++i) {
        const uint64_t from = ranges[i].start > start ? ranges[i].start : start;
        const uint64_t to = ranges[i].end < stop ? ranges[i].end : stop;
        for (uint64_t page = from; page < to; page += kPageSize) {
          visit(i, page, (*buffer)[(page - start) / kPageSize]);
        }
      }
    }
    index = last + 1;
  }
  return absl::OkStatus();
}

}  // namespace mempulse
