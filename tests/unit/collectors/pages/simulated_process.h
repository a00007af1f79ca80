#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "collectors/host/clock.h"
#include "collectors/pages/page_tracker.h"
#include "collectors/pages/range_set.h"

namespace mempulse {

// Time that moves only when somebody waits or asks.
class SimulatedClock final : public Clock {
 public:
  absl::Time Now() override { return absl::FromUnixNanos(nanos_); }
  int64_t MonotonicNanos() override { return nanos_ += 50; }
  bool WaitUntil(int64_t deadline_nanos, bool, const std::stop_token& stop) override {
    if (stop.stop_requested()) return false;
    nanos_ = std::max(nanos_, deadline_nanos);
    return true;
  }
  void Advance(int64_t nanos) { nanos_ += nanos; }

 private:
  int64_t nanos_ = 1'000'000'000;
};

// A process of periodic writers under a tracker that misses nothing.
class SimulatedTracker final : public PageTracker {
 public:
  explicit SimulatedTracker(SimulatedClock* clock) : clock_(clock) {
    traits_.atomic = true;
    traits_.resets_range = true;
    traits_.sees_restores = true;
    traits_.target_seconds_per_hit = 1.1e-6;
    traits_.seconds_per_page_looked = 2.6e-9;
    traits_.seconds_per_call = 0.5e-6;
    traits_.shortest_window_nanos = 10'000;
  }

  // Hertz 0: never written. Infinite: written all the time.
  void AddPages(uint64_t address, uint64_t pages, double hertz) {
    for (uint64_t i = 0; i < pages; ++i)
      writers_[address + i * kPageSize] = {hertz, 0.137 * static_cast<double>(i)};
  }
  std::vector<PageRange> AllRanges() const {
    std::vector<uint64_t> addresses;
    for (const auto& [address, writer] : writers_) addresses.push_back(address);
    return RangesOfPages(addresses);
  }
  // Nobody writes from here to there, CLOCK_MONOTONIC of the simulated clock: the process does not run.
  void Pause(int64_t from_nanos, int64_t to_nanos) { pauses_.push_back({from_nanos, to_nanos}); }
  TrackerTraits& mutable_traits() { return traits_; }
  int covers() const { return covers_; }
  uint64_t hits() const { return effect_.induced_faults; }
  void FailNext(absl::Status status) { fail_next_ = std::move(status); }
  void FailAfter(int calls, absl::Status status) {
    calls_until_failure_ = calls;
    later_failure_ = std::move(status);
  }

  TrackerKind kind() const override { return TrackerKind::kWriteProtect; }
  const TrackerTraits& traits() const override { return traits_; }
  absl::StatusOr<Coverage> Cover(absl::Span<const Mapping>, const CoverOptions&) override {
    ++covers_;
    Coverage coverage;
    coverage.ranges = AllRanges();
    coverage.pages = CountPages(coverage.ranges);
    return coverage;
  }
  absl::StatusOr<Instant> Reset(absl::Span<const PageRange> ranges) override {
    std::vector<PageRange> ignored;
    return LookAndReset(ranges, &ignored, nullptr);
  }
  absl::StatusOr<Instant> Look(absl::Span<const PageRange>, std::vector<PageRange>*) override {
    return absl::UnimplementedError("not simulated");
  }
  absl::StatusOr<Instant> LookAndReset(absl::Span<const PageRange> ranges, std::vector<PageRange>* written,
                                       Instant* reset) override {
    if (!fail_next_.ok()) return std::exchange(fail_next_, absl::OkStatus());
    if (calls_until_failure_ > 0 && --calls_until_failure_ == 0) return later_failure_;
    const int64_t now = clock_->MonotonicNanos();
    for (const PageRange& range : ranges) {
      for (auto page = writers_.lower_bound(range.start); page != writers_.end() && page->first < range.end;
           ++page) {
        Writer& writer = page->second;
        const bool first = writer.reset_nanos == 0;
        const int64_t ran_until_reset = RanUntil(writer.reset_nanos);
        const int64_t ran = RanUntil(now);
        if (first ||
            (std::isinf(writer.hertz) ? ran > ran_until_reset
                                      : WritesUntil(writer, ran) > WritesUntil(writer, ran_until_reset))) {
          written->push_back({page->first, page->first + kPageSize});
          ++effect_.induced_faults;
        }
        writer.reset_nanos = now;
      }
    }
    clock_->Advance(static_cast<int64_t>(ranges.size()) * 300);
    const Instant instant{now, clock_->MonotonicNanos()};
    if (reset != nullptr) *reset = instant;
    *written = MergeRanges(std::move(*written));
    return instant;
  }
  ObserverEffect effect() const override { return effect_; }

 private:
  struct Writer {
    double hertz = 0;
    double phase = 0;
    int64_t reset_nanos = 0;
  };
  int64_t RanUntil(int64_t nanos) const {
    int64_t ran = nanos;
    for (const auto& [from, to] : pauses_) ran -= std::clamp(nanos, from, to) - from;
    return ran;
  }
  static int64_t WritesUntil(const Writer& writer, int64_t nanos) {
    return static_cast<int64_t>(std::floor(static_cast<double>(nanos) * 1e-9 * writer.hertz + writer.phase));
  }

  SimulatedClock* clock_;
  TrackerTraits traits_;
  std::map<uint64_t, Writer> writers_;
  std::vector<std::pair<int64_t, int64_t>> pauses_;
  int covers_ = 0;
  ObserverEffect effect_;
  absl::Status fail_next_;
  int calls_until_failure_ = 0;
  absl::Status later_failure_;
};

}  // namespace mempulse
