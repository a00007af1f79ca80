#include "collectors/pages/cross_check.h"

#include <algorithm>
#include <utility>

#include "collectors/pages/page_content.h"
#include "collectors/pages/range_set.h"
#include "collectors/pages/rung_recorder.h"

namespace mempulse {
namespace {

std::vector<PageRange> DrawAbout(absl::Span<const PageRange> ranges, uint64_t pages, uint64_t seed) {
  const uint64_t population = CountPages(ranges);
  if (population == 0) return {};
  return DrawPages(ranges, std::min(1.0, static_cast<double>(pages) / static_cast<double>(population)), seed);
}

}  // namespace

std::vector<PageRange> DrawCrossCheck(absl::Span<const PageRange> covered,
                                      absl::Span<const PageRange> written, uint64_t pages, uint64_t seed) {
  const std::vector<PageRange> busy = IntersectRanges(covered, written);
  const std::vector<PageRange> quiet = SubtractRanges(covered, busy);
  std::vector<PageRange> drawn = DrawAbout(busy, (pages + 1) / 2, seed);
  const uint64_t left = pages - std::min(pages, CountPages(drawn));
  const std::vector<PageRange> others = DrawAbout(quiet, left, seed + 1);
  drawn.insert(drawn.end(), others.begin(), others.end());
  return MergeRanges(std::move(drawn));
}

std::vector<PageRange> OwnContent(absl::Span<const Mapping> mappings) {
  std::vector<PageRange> ranges;
  for (const Mapping& mapping : mappings) {
    if (!mapping.shared && mapping.inode == 0) ranges.push_back({mapping.start, mapping.end});
  }
  return MergeRanges(std::move(ranges));
}

CrossCheck CompareContent(absl::Span<const PageRange> ranges, absl::Span<const uint64_t> before,
                          absl::Span<const uint64_t> after, absl::Span<const PageRange> written) {
  CrossCheck check;
  size_t page = 0;
  for (const PageRange& range : ranges) {
    for (uint64_t address = range.start; address < range.end; address += kPageSize, ++page) {
      if (page >= before.size() || page >= after.size()) return check;
      if (before[page] == kNoContent || after[page] == kNoContent) continue;
      const bool changed = before[page] != after[page];
      const bool seen = ContainsPage(written, address);
      ++(changed ? (seen ? check.confirmed : check.missed) : (seen ? check.unconfirmed : check.unchanged));
    }
  }
  return check;
}

absl::StatusOr<CrossCheck> RunCrossCheck(SweepSession* session, const std::vector<PageRange>& ranges,
                                         absl::Duration window) {
  RungRecorder recorder(window, ranges, false);
  const absl::StatusOr<Instant> reset = session->Reset(ranges);
  if (!reset.ok()) return reset.status();
  recorder.Open(*reset);
  const absl::StatusOr<std::vector<uint64_t>> before = session->HashPages(ranges);
  if (!before.ok()) return before.status();
  if (!session->Pause(window)) return absl::CancelledError("stopped while cross-checking");
  const absl::StatusOr<std::vector<uint64_t>> after = session->HashPages(ranges);
  if (!after.ok()) return after.status();
  if (absl::Status looked = session->Look(ranges, {}, true, &recorder); !looked.ok()) return looked;
  if (recorder.sample().looks.empty() || recorder.sample().looks.back().discarded) return CrossCheck{};
  return CompareContent(ranges, *before, *after, MergeRanges(session->written()));
}

absl::Status CrossCheckSweep(SweepSession* session, SweepSample* sample) {
  const SweepRequest& request = session->request();
  const bool second_mechanism =
      session->tracker().kind() != TrackerKind::kHashDiff && session->reads_content();
  if (!second_mechanism || request.options.cross_check_pages == 0 || session->budget().left() < 0) {
    return absl::OkStatus();
  }
  std::vector<PageRange> written = sample->gap.written;
  for (const RungSample& rung : sample->rungs) {
    for (const PageHits& page : rung.pages) {
      if (page.hits > 0) written.push_back({page.address, page.address + kPageSize});
    }
  }
  std::vector<PageRange> covered =
      IntersectRanges(session->coverage().ranges, OwnContent(session->mappings()));
  if (!request.only.empty()) covered = IntersectRanges(covered, request.only);
  const std::vector<PageRange> drawn = DrawCrossCheck(covered, MergeRanges(std::move(written)),
                                                      request.options.cross_check_pages, request.seed + 5);
  if (drawn.empty()) return absl::OkStatus();
  const absl::StatusOr<CrossCheck> check = RunCrossCheck(session, drawn, request.options.windows.front());
  if (check.ok()) sample->cross_check = *check;
  return check.status();
}

}  // namespace mempulse
