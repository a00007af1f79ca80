#pragma once

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "collectors/pages/page_range.h"
#include "collectors/pages/sweep_sample.h"
#include "collectors/pages/sweep_session.h"

// A second mechanism on a sample of pages: their content is hashed twice inside one window of the tracker. A
// page whose content changed was written in that window, so a tracker that does not say so has lost a write.
namespace mempulse {

// About `pages` pages, half of them from `written` (pages seen written lately), the others from the rest of
// `covered`. The same seed draws the same pages. Pure.
std::vector<PageRange> DrawCrossCheck(absl::Span<const PageRange> covered,
                                      absl::Span<const PageRange> written, uint64_t pages, uint64_t seed);

// The private anonymous mappings: the content of others can change without a write of this process. Pure.
std::vector<PageRange> OwnContent(absl::Span<const Mapping> mappings);

// `before` and `after` hold a word for each page of `ranges` (kNoContent: cannot be compared). Pure.
CrossCheck CompareContent(absl::Span<const PageRange> ranges, absl::Span<const uint64_t> before,
                          absl::Span<const uint64_t> after, absl::Span<const PageRange> written);

// Opens a window on `ranges`, hashes, waits for `window`, hashes, closes the window. A window in which the
// address space changed gives no counts. Errors: those of the tracker and of the reader.
absl::StatusOr<CrossCheck> RunCrossCheck(SweepSession* session, const std::vector<PageRange>& ranges,
                                         absl::Duration window);

// What a sweep does with the above once its ladder is done: fills sample->cross_check unless hashing is the
// tracker, the memory may not be read, no pages were asked for or the budget is spent.
absl::Status CrossCheckSweep(SweepSession* session, SweepSample* sample);

}  // namespace mempulse
