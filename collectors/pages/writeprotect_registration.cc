#include "collectors/pages/writeprotect_registration.h"

#include <time.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>

#include "collectors/pages/range_set.h"

namespace mempulse {
namespace {

constexpr uint64_t kPiecePages = 16384;  // 0.7 ms of lock time
constexpr int64_t kLongPieceNanos = 200'000;
constexpr int64_t kMostPauseNanos = 10'000'000;

int64_t MonotonicNanos() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1'000'000'000LL + now.tv_nsec;
}

void PauseAfter(int64_t nanos) {
  if (nanos < kLongPieceNanos) return;
  const timespec pause{0, std::min(nanos, kMostPauseNanos)};
  nanosleep(&pause, nullptr);
}

}  // namespace

WriteProtectRegistration::WriteProtectRegistration(WriteProtection protection, DescriptorLife life)
    : protection_(std::move(protection)), life_(life) {}

WriteProtectRegistration::~WriteProtectRegistration() {
  if (life_ == DescriptorLife::kCloses && CountPages(population_) <= kPiecePages) return;
  for (const PageRange& mapping : registered_) Release(mapping);
}

int WriteProtectRegistration::Add(PageRange mapping) {
  const int error = protection_.Register(mapping);
  if (error == 0) registered_.push_back(mapping);
  return error;
}

void WriteProtectRegistration::Retain(absl::Span<const PageRange> mappings) {
  registered_ = IntersectRanges(MergeRanges(std::move(registered_)), mappings);
}

void WriteProtectRegistration::Release(PageRange mapping) {
  const std::vector<PageRange> inside = IntersectRanges({&mapping, 1}, population_);
  const auto parts = SplitRanges(inside, kPiecePages, std::numeric_limits<size_t>::max());
  uint64_t from = mapping.start;
  for (size_t i = 0; i + 1 < parts.size(); ++i) {
    ReleasePiece({from, parts[i].back().end});
    from = parts[i].back().end;
  }
  ReleasePiece({from, mapping.end});
}

void WriteProtectRegistration::ReleasePiece(PageRange piece) {
  // Succeeds only where nobody else has registered meanwhile: old kernels let us undo a stranger's work.
  if (protection_.Register(piece) != 0) return;
  const int64_t begin = MonotonicNanos();
  protection_.Unregister(piece);
  PauseAfter(MonotonicNanos() - begin);
}

}  // namespace mempulse
