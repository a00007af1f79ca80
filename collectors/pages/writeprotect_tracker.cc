#include "collectors/pages/writeprotect_tracker.h"

#include <algorithm>
#include <cerrno>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "collectors/pages/attach_userfaultfd.h"
#include "collectors/pages/cooperative_proof.h"
#include "collectors/pages/coverage.h"
#include "collectors/pages/pagemap.h"
#include "collectors/pages/pagemap_presence.h"
#include "collectors/pages/range_set.h"
#include "collectors/pages/writeprotect_registration.h"
#include "collectors/pages/writeprotect_scanner.h"

namespace mempulse {
namespace {

constexpr uint64_t kMergedGapPages = 16;

constexpr TrackerTraits kTraits = {
    .atomic = true,
    .resets_range = true,
    .sees_restores = true,
    .target_seconds_per_hit = 1.1e-6,
    .seconds_per_page_looked = 2.4e-9,
    .seconds_per_call = 1.0e-6,
    .shortest_window_nanos = 10'000,
};

const char* RegistrationRefusal(int error) {
  switch (error) {
    case EBUSY:
      return "foreign_userfaultfd";
    case EPERM:
      return "read_only_shared";
    case EINVAL:
      return "special";
    default:
      return "error";
  }
}

// Hands out what was found when the mappings were registered.
class FoundPresence final : public PresenceSource {
 public:
  void Add(PresentPages pages) { pages_.push_back(std::move(pages)); }
  absl::StatusOr<PresentPages> FindPresent(const Mapping&) override { return std::move(pages_[next_++]); }

 private:
  std::vector<PresentPages> pages_;
  size_t next_ = 0;
};

uint64_t CountHugeBlocks(const std::vector<PageRange>& ranges) {
  uint64_t blocks = 0;
  uint64_t last = ~uint64_t{0};
  for (const PageRange& range : ranges) {
    const uint64_t first = range.start / kHugePageSize;
    const uint64_t end = (range.end - 1) / kHugePageSize;
    blocks += end - first + (first == last ? 0 : 1);
    last = end;
  }
  return blocks;
}

class WriteProtectTracker final : public PageTracker {
 public:
  WriteProtectTracker(const Host& host, pid_t pid, Pagemap pagemap, WriteProtection protection,
                      DescriptorLife life, const AttachResult& attached)
      : pagemap_(std::move(pagemap)),
        presence_(host, pid, &pagemap_),
        scanner_(pagemap_.fd()),
        registration_(std::move(protection), life) {
    effect_.stop_seconds = attached.stop_seconds;
    effect_.stops = attached.stops;
  }

  TrackerKind kind() const override { return TrackerKind::kWriteProtect; }
  const TrackerTraits& traits() const override { return kTraits; }

  absl::StatusOr<Coverage> Cover(absl::Span<const Mapping> mappings, const CoverOptions& options) override;

  absl::StatusOr<Instant> Reset(absl::Span<const PageRange> ranges) override {
    return scanner_.Scan(Annotate(ranges), true, nullptr);
  }

  absl::StatusOr<Instant> Look(absl::Span<const PageRange> ranges, std::vector<PageRange>* written) override {
    return LookAt(ranges, false, written);
  }

  absl::StatusOr<Instant> LookAndReset(absl::Span<const PageRange> ranges, std::vector<PageRange>* written,
                                       Instant* reset) override {
    absl::StatusOr<Instant> instant = LookAt(ranges, true, written);
    if (instant.ok()) *reset = *instant;
    return instant;
  }

  ObserverEffect effect() const override {
    ObserverEffect effect = effect_;
    effect.lock_seconds = scanner_.call_seconds();
    return effect;
  }

 private:
  absl::StatusOr<Instant> LookAt(absl::Span<const PageRange> ranges, bool reset,
                                 std::vector<PageRange>* written);
  absl::Span<const ScanRange> Annotate(absl::Span<const PageRange> ranges);
  // One mapping on its way into the coverage.
  struct Candidate {
    Mapping mapping;
    PresentPages present;
    bool tracks = false;            // has pages to track
    const char* refusal = nullptr;  // why it stays untracked

    PageRange range() const { return {mapping.start, mapping.end}; }
  };
  absl::StatusOr<std::vector<Candidate>> FindCandidates(absl::Span<const Mapping> mappings,
                                                        const CoverOptions& options);
  absl::Status RegisterTracked(absl::Span<const Mapping> mappings, std::vector<Candidate>* candidates);
  absl::StatusOr<const char*> Register(PageRange range);
  void CountSplits(const std::vector<PageRange>& base);

  Pagemap pagemap_;
  PagemapPresence presence_;
  WrittenScanner scanner_;
  WriteProtectRegistration registration_;
  ObserverEffect effect_;
  std::vector<PageRange> private_files_;  // tracked private file mappings, ascending
  std::vector<PageRange> tracked_huge_;   // huge pages that resets may have touched
  std::vector<ScanRange> annotated_;
};

// Memory beside a tracked mapping that may become part of it: an allocator's reserve, a part under mprotect,
// a part that is still empty.
std::vector<PageRange> FindReserves(absl::Span<const Mapping> mappings, absl::Span<const PageRange> tracked,
                                    absl::Span<const PageRange> others) {
  std::vector<PageRange> reserves;
  for (const Mapping& mapping : mappings) {
    const bool could_join = !mapping.shared && mapping.inode == 0 &&
                            MappingRefusal(mapping, CoverOptions{}, CoverageRules{}) == nullptr;
    const bool beside =
        ContainsPage(tracked, mapping.end) || ContainsPage(tracked, mapping.start - kPageSize);
    const bool listed = ContainsPage(tracked, mapping.start) || ContainsPage(others, mapping.start);
    if (could_join && beside && !listed) {
      reserves.push_back({mapping.start, mapping.end});
    }
  }
  return reserves;
}

absl::StatusOr<Coverage> WriteProtectTracker::Cover(absl::Span<const Mapping> mappings,
                                                    const CoverOptions& options) {
  absl::StatusOr<std::vector<Candidate>> candidates = FindCandidates(mappings, options);
  if (!candidates.ok()) return candidates.status();
  if (absl::Status status = RegisterTracked(mappings, &*candidates); !status.ok()) return status;
  std::vector<Coverage::Refusal> refusals;
  std::vector<Mapping> enrolled;
  std::vector<PageRange> base;
  std::vector<PageRange> huge;
  FoundPresence found;
  private_files_.clear();
  for (Candidate& candidate : *candidates) {
    if (candidate.refusal != nullptr) {
      refusals.push_back({candidate.range(), candidate.refusal});
      continue;
    }
    const PresentPages& present = candidate.present;
    base.insert(base.end(), present.base.begin(), present.base.end());
    huge.insert(huge.end(), present.huge.begin(), present.huge.end());
    if (!candidate.mapping.shared && candidate.mapping.inode != 0)
      private_files_.push_back(candidate.range());
    found.Add(std::move(candidate.present));
    enrolled.push_back(candidate.mapping);
  }
  absl::StatusOr<Coverage> coverage = CoverPresentPages(enrolled, options, CoverageRules{}, &found);
  if (!coverage.ok()) return coverage.status();
  coverage->refusals.insert(coverage->refusals.end(), refusals.begin(), refusals.end());
  CountSplits(base);
  if (options.include_huge) tracked_huge_ = std::move(huge);
  registration_.SetPopulation(coverage->ranges);
  return coverage;
}

absl::StatusOr<std::vector<WriteProtectTracker::Candidate>> WriteProtectTracker::FindCandidates(
    absl::Span<const Mapping> mappings, const CoverOptions& options) {
  std::vector<Candidate> candidates;
  for (const Mapping& mapping : mappings) {
    if (!mapping.writable) continue;
    Candidate candidate;
    candidate.mapping = mapping;
    candidate.refusal = MappingRefusal(mapping, options, CoverageRules{});
    if (candidate.refusal == nullptr) {
      absl::StatusOr<PresentPages> found = presence_.FindPresent(mapping);
      if (!found.ok()) return found.status();
      PresentPages& present = candidate.present = *std::move(found);
      // One call over a short gap is cheaper than two; a huge page never fits into such a gap.
      present.base = MergeRanges(std::move(present.base), kMergedGapPages);
      candidate.tracks = !present.base.empty() || (!present.huge.empty() && options.include_huge);
    }
    candidates.push_back(std::move(candidate));
  }
  return candidates;
}

// What touches is registered by one call: while only one of two neighbours is registered, the kernel cannot
// join them, and an mremap over both fails for the target.
absl::Status WriteProtectTracker::RegisterTracked(absl::Span<const Mapping> mappings,
                                                  std::vector<Candidate>* candidates) {
  std::vector<PageRange> tracked;
  std::vector<PageRange> huge;  // left alone, so that nothing keeps the kernel from making more of them
  for (const Candidate& candidate : *candidates) {
    if (candidate.tracks) tracked.push_back(candidate.range());
    if (!candidate.tracks && !candidate.present.huge.empty()) huge.push_back(candidate.range());
  }
  const std::vector<PageRange> reserves = FindReserves(mappings, tracked, huge);
  std::vector<PageRange> wanted = tracked;
  wanted.insert(wanted.end(), reserves.begin(), reserves.end());
  std::vector<PageRange> registered;
  for (const PageRange& together : MergeRanges(std::move(wanted))) {
    if (registration_.Add(together) == 0) registered.push_back(together);
  }
  // A group that holds something that cannot be registered: each for itself.
  for (Candidate& candidate : *candidates) {
    if (!candidate.tracks || ContainsPage(registered, candidate.mapping.start)) continue;
    const absl::StatusOr<const char*> refusal = Register(candidate.range());
    if (!refusal.ok()) return refusal.status();
    candidate.refusal = *refusal;
  }
  tracked.insert(tracked.end(), registered.begin(), registered.end());
  registration_.Retain(MergeRanges(std::move(tracked)));
  return absl::OkStatus();
}

absl::StatusOr<const char*> WriteProtectTracker::Register(PageRange range) {
  const int error = registration_.Add(range);
  if (error == 0) return nullptr;
  if (error == ENOMEM) {
    // Also what the kernel says when the address space is gone; a scan tells the two apart.
    Mapping probe;
    probe.start = range.start;
    probe.end = range.start + kPageSize;
    absl::StatusOr<PresentPages> present = presence_.FindPresent(probe);
    if (!present.ok()) return present.status();
  }
  return RegistrationRefusal(error);
}

absl::StatusOr<Instant> WriteProtectTracker::LookAt(absl::Span<const PageRange> ranges, bool reset,
                                                    std::vector<PageRange>* written) {
  const size_t before = written->size();
  absl::StatusOr<Instant> instant = scanner_.Scan(Annotate(ranges), reset, written);
  effect_.induced_faults += CountPages(absl::MakeConstSpan(*written).subspan(before));
  return instant;
}

absl::Span<const ScanRange> WriteProtectTracker::Annotate(absl::Span<const PageRange> ranges) {
  annotated_.clear();
  for (const PageRange& range : ranges)
    annotated_.push_back({range, ContainsPage(private_files_, range.start)});
  return annotated_;
}

void WriteProtectTracker::CountSplits(const std::vector<PageRange>& base) {
  effect_.huge_pages_split += CountHugeBlocks(IntersectRanges(tracked_huge_, base));
  tracked_huge_.clear();
}

}  // namespace

absl::StatusOr<std::unique_ptr<PageTracker>> OpenWriteProtectTracker(const Host& host, const Target& target) {
  // Before the attach: should the target execute another program in between, the scans will say that it is
  // gone.
  absl::StatusOr<Pagemap> pagemap = Pagemap::Open(host, target.pid());
  if (!pagemap.ok()) return pagemap.status();
  absl::StatusOr<AttachResult> attached = AttachUserfaultfd(host, target, AttachOptions{});
  if (!attached.ok()) return attached.status();
  absl::StatusOr<WriteProtection> protection = WriteProtection::Negotiate(std::move(attached->userfaultfd));
  if (!protection.ok()) return protection.status();
  return std::make_unique<WriteProtectTracker>(host, target.pid(), *std::move(pagemap),
                                               *std::move(protection), DescriptorLife::kCloses, *attached);
}

absl::StatusOr<std::unique_ptr<PageTracker>> OpenOfferedWriteProtectTracker(const Host& host,
                                                                            const Target& target,
                                                                            WriteProtection offered) {
  absl::StatusOr<Pagemap> pagemap = Pagemap::Open(host, target.pid());
  if (!pagemap.ok()) return pagemap.status();
  bool truncated = false;
  const absl::StatusOr<std::vector<Mapping>> mappings = ReadMappings(host, target.pid(), &truncated);
  if (!mappings.ok()) return mappings.status();
  if (absl::Status status = CheckOwnMemory(offered, *pagemap, *mappings); !status.ok()) return status;
  return std::make_unique<WriteProtectTracker>(host, target.pid(), *std::move(pagemap), std::move(offered),
                                               DescriptorLife::kStays, AttachResult{});
}

}  // namespace mempulse
