#include "collectors/pages/sweep_session.h"

#include <algorithm>
#include <utility>

#include "collectors/pages/range_set.h"
#include "collectors/pages/sweep_plan.h"

namespace mempulse {
namespace {

constexpr int64_t kCpuBlockNanos = 10'000'000;
// How Clock::WaitUntil spins.
constexpr int64_t kSpunWholeNanos = 100'000;
constexpr int64_t kSpunTailNanos = 60'000;
constexpr int64_t kDistrustPauseNanos = 500'000;
constexpr int64_t kGlanceFromNanos = 4'000'000;  // of waiting: a glance reads up to 64 entries

double Seconds(int64_t nanos) { return static_cast<double>(nanos) * 1e-9; }

// A tracker that only reads costs the target no faults: what counts then is our own time.
bool HitsAreFree(const PageTracker& tracker) { return tracker.traits().target_seconds_per_hit <= 0; }

std::vector<PageRange> WritableRanges(const std::vector<Mapping>& mappings) {
  std::vector<PageRange> ranges;
  for (const Mapping& mapping : mappings) {
    if (mapping.writable) ranges.push_back({mapping.start, mapping.end});
  }
  return ranges;
}

}  // namespace

double SweepSession::burst_ratio() const {
  return HitsAreFree(tracker_) ? request_.own_burst : request_.options.burst_limit;
}

SweepSession::SweepSession(PageTracker& tracker, Clock& clock, const SweepTarget& target,
                           const SweepRequest& request, std::stop_token stop)
    : tracker_(tracker),
      clock_(clock),
      target_(target),
      request_(request),
      stop_(std::move(stop)),
      started_nanos_(clock.MonotonicNanos()),
      ends_nanos_(started_nanos_ +
                  absl::ToInt64Nanoseconds(std::min(request.spread, request.options.target_time_limit))),
      budget_(HitsAreFree(tracker) ? request.own_seconds : request.target_seconds, burst_ratio(),
              started_nanos_),
      random_(request.seed),
      block_started_nanos_(started_nanos_) {
  const absl::StatusOr<int64_t> cpu = target.cpu_nanos();
  if (cpu.ok()) first_cpu_nanos_ = block_cpu_nanos_ = *cpu;
}

absl::Status SweepSession::Cover() {
  absl::StatusOr<std::vector<Mapping>> mappings = target_.mappings();
  if (!mappings.ok()) return mappings.status();
  mappings_ = *std::move(mappings);
  const CoverOptions options{request_.options.include_shared, request_.options.include_huge,
                             request_.options.max_pages};
  // The tracker sees every mapping: write protection has to know the neighbours that the target may merge.
  absl::StatusOr<Coverage> coverage = tracker_.Cover(mappings_, options);
  if (!coverage.ok()) return coverage.status();
  coverage_ = *std::move(coverage);
  coverage_.ranges = IntersectRanges(coverage_.ranges, WritableRanges(mappings_));
  coverage_.pages = CountPages(coverage_.ranges);
  return absl::OkStatus();
}

int64_t SweepSession::JitteredNanos(absl::Duration window) {
  std::uniform_real_distribution<double> spread(1 - request_.options.jitter, 1 + request_.options.jitter);
  return static_cast<int64_t>(absl::ToDoubleNanoseconds(window) * spread(random_));
}

bool SweepSession::WaitUntil(int64_t deadline_nanos, bool precise) {
  const int64_t until = std::min(deadline_nanos, ends_nanos_);
  const int64_t wait = until - Now();
  const bool spin = precise && wait > 0;
  if (spin) own_seconds_spent_ += Seconds(wait <= kSpunWholeNanos ? wait : kSpunTailNanos);
  if (!traits().resets_range && wait >= kGlanceFromNanos) {
    if (!clock_.WaitUntil(until - wait / 2, false, stop_)) return false;
    const int64_t begin = Now();
    // What a glance cannot do the look that follows will report.
    tracker_.Glance().IgnoreError();
    own_seconds_spent_ += Seconds(Now() - begin);
  }
  return clock_.WaitUntil(until, spin, stop_) && until == deadline_nanos;
}

bool SweepSession::Pause(absl::Duration window) {
  return clock_.WaitUntil(Now() + JitteredNanos(window), false, stop_);
}

absl::StatusOr<std::vector<uint64_t>> SweepSession::HashPages(absl::Span<const PageRange> ranges) {
  const int64_t begin = Now();
  absl::StatusOr<std::vector<uint64_t>> hashes = target_.hash_pages(ranges);
  own_seconds_spent_ += Seconds(Now() - begin);
  return hashes;
}

void SweepSession::Charge(uint64_t hits, int64_t call_nanos) {
  const double call = Seconds(call_nanos);
  own_seconds_spent_ += call;
  budget_.Spend(HitsAreFree(tracker_) ? call : static_cast<double>(hits) * traits().target_seconds_per_hit,
                Now());
}

absl::StatusOr<Instant> SweepSession::Reset(absl::Span<const PageRange> ranges) {
  const int64_t begin = Now();
  absl::StatusOr<Instant> reset = tracker_.Reset(ranges);
  if (absl::IsFailedPrecondition(reset.status())) reset = CoverAndReset(ranges);
  Charge(0, Now() - begin);
  return reset;
}

absl::StatusOr<Instant> SweepSession::CoverAndReset(absl::Span<const PageRange> ranges) {
  if (absl::Status covered = Cover(); !covered.ok()) return covered;
  return tracker_.Reset(IntersectRanges(ranges, coverage_.ranges));
}

// A mapping that appeared, grew or merged reads written as a whole once: such a look says nothing. Reading
// the mappings costs too much for every look of the finest windows.
bool SweepSession::DistrustsWritten() {
  if (traits().atomic || Now() < distrust_due_nanos_) return false;
  distrust_due_nanos_ = Now() + kDistrustPauseNanos;
  return !IntersectRanges(written_, MergeRanges(tracker_.Distrusted())).empty();
}

absl::Status SweepSession::Look(absl::Span<const PageRange> ranges, absl::Span<const PageRange> carried,
                                bool contiguous, RungRecorder* rung) {
  written_.clear();
  const int64_t begin = Now();
  RungRecorder::LookFacts facts;
  facts.atomic = traits().atomic;
  facts.contiguous = contiguous;
  absl::StatusOr<Instant> look = tracker_.LookAndReset(ranges, &written_, &facts.reset);
  if (absl::IsFailedPrecondition(look.status())) {
    look = CoverAndReset(ranges);
    if (!look.ok()) return look.status();
    facts.reset = *look;
    facts.discarded = true;
    written_.clear();
  }
  if (!look.ok()) return look.status();
  facts.look = *look;
  facts.discarded |= DistrustsWritten() || tracker_.LookSpoiled();
  const uint64_t hits = CountPages(written_);
  Charge(hits, Now() - begin);
  if (!carried.empty()) {
    written_.insert(written_.end(), carried.begin(), carried.end());
    written_ = MergeRanges(std::move(written_));
  }
  if (!HitsAreFree(tracker_)) rung->sample().induced_faults += hits;
  rung->Close(facts, written_);
  return absl::OkStatus();
}

std::optional<double> SweepSession::CpuBlock() {
  const int64_t now = Now();
  if (now - block_started_nanos_ < kCpuBlockNanos) return std::nullopt;
  const absl::StatusOr<int64_t> cpu = target_.cpu_nanos();
  if (!cpu.ok()) return std::nullopt;
  const double share =
      static_cast<double>(*cpu - block_cpu_nanos_) / static_cast<double>(now - block_started_nanos_);
  block_cpu_nanos_ = *cpu;
  block_started_nanos_ = now;
  return share;
}

double SweepSession::MeanCpu() {
  const absl::StatusOr<int64_t> cpu = target_.cpu_nanos();
  const int64_t elapsed = Now() - started_nanos_;
  if (!cpu.ok() || elapsed <= 0) return 0;
  return static_cast<double>(*cpu - first_cpu_nanos_) / static_cast<double>(elapsed);
}

}  // namespace mempulse
