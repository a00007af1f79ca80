#include "collectors/pages/cooperative_proof.h"

#include <algorithm>
#include <cerrno>
#include <vector>

#include "absl/status/statusor.h"
#include "collectors/pages/coverage.h"
#include "collectors/pages/page_tracker.h"
#include "collectors/pages/pagemap_scan.h"

namespace mempulse {
namespace {

constexpr size_t kMostTries = 8;  // mappings come and go while we look at them

// Whole mappings only: part of one would split it, and an mremap over both halves fails for the target.
std::vector<PageRange> Candidates(absl::Span<const Mapping> mappings) {
  std::vector<PageRange> candidates;
  for (const Mapping& mapping : mappings) {
    if (!mapping.writable || mapping.shared) continue;
    if (MappingRefusal(mapping, CoverOptions{}, CoverageRules{}) != nullptr) continue;
    candidates.push_back({mapping.start, mapping.end});
  }
  std::sort(candidates.begin(), candidates.end(),
            [](const PageRange& a, const PageRange& b) { return a.pages() < b.pages(); });
  candidates.resize(std::min(candidates.size(), kMostTries));
  return candidates;
}

// NotFound: no address space any more.
absl::StatusOr<bool> IsRegistered(const Pagemap& pagemap, const PageRange& mapping) {
  ScanQuery query;
  query.flags = kScanNeedsWpAsync;
  query.all = query.returned = kPageWritten;
  query.max_pages = 1;
  PageRegion region;
  const absl::StatusOr<ScanResult> result =
      ScanPages(pagemap.fd(), {mapping.start, mapping.start + kPageSize}, query, absl::MakeSpan(&region, 1));
  if (result.ok()) return true;
  if (absl::IsFailedPrecondition(result.status())) return false;
  return result.status();
}

enum class Verdict { kOwn, kForeign, kTaken, kUnclear };

absl::StatusOr<Verdict> TryOn(const WriteProtection& offered, const Pagemap& pagemap,
                              const PageRange& mapping) {
  const absl::StatusOr<bool> before = IsRegistered(pagemap, mapping);
  if (!before.ok()) return before.status();
  if (*before) return Verdict::kTaken;
  const int error = offered.Register(mapping);
  if (error == EBUSY) return Verdict::kTaken;
  if (error != 0) return Verdict::kUnclear;
  const absl::StatusOr<bool> between = IsRegistered(pagemap, mapping);
  offered.Unregister(mapping);
  if (!between.ok()) return between.status();
  const absl::StatusOr<bool> after = IsRegistered(pagemap, mapping);
  if (!after.ok()) return after.status();
  return *between && !*after ? Verdict::kOwn : Verdict::kForeign;
}

}  // namespace

absl::Status CheckOwnMemory(const WriteProtection& offered, const Pagemap& pagemap,
                            absl::Span<const Mapping> mappings) {
  bool taken = false;
  for (const PageRange& mapping : Candidates(mappings)) {
    const absl::StatusOr<Verdict> verdict = TryOn(offered, pagemap, mapping);
    if (!verdict.ok()) return verdict.status();
    if (*verdict == Verdict::kOwn) return absl::OkStatus();
    taken |= *verdict == Verdict::kTaken;
  }
  if (taken) {
    return absl::UnavailableError(
        "foreign_tracker: another userfaultfd has the target's memory registered already");
  }
  return absl::UnavailableError(
      "foreign_memory: the userfaultfd that was offered belongs to another address space");
}

}  // namespace mempulse
