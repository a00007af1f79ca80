#include "collectors/pages/wide_rung.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "collectors/pages/range_set.h"
#include "collectors/pages/sweep_plan.h"

namespace mempulse {
namespace {

constexpr uint64_t kPartPages = 65536;
constexpr size_t kPartRanges = 2048;
// Shares of the whole sweep's means at which this rung ends, whatever the plan expected: the finer rungs need
// the rest.
constexpr double kMostShare = 0.45;
constexpr double kMostOwnShare = 0.5;

}  // namespace

WideRung::WideRung(SweepSession* session, const std::vector<PageRange>& ranges, double page_share,
                   uint64_t eligible_pages)
    : session_(session),
      page_share_(page_share),
      most_spent_((session->budget().spent() + session->budget().left()) * kMostShare),
      most_own_spent_(session->request().own_seconds * kMostOwnShare) {
  const SweepRequest& request = session->request();
  // A tracker that can only reset everything has one window for everything.
  const bool whole = !session->traits().resets_range;
  const uint64_t part_pages = whole ? std::numeric_limits<uint64_t>::max() : kPartPages;
  for (std::vector<PageRange>& part : SplitRanges(ranges, part_pages, whole ? SIZE_MAX : kPartRanges)) {
    parts_.push_back({RungRecorder(request.options.windows.front(), part, request.record_hits), part, {}});
    RungSample& sample = parts_.back().recorder.sample();
    sample.page_share = page_share;
    sample.eligible_pages = eligible_pages;
  }
}

absl::Status WideRung::Open() {
  for (Part& part : parts_) {
    const absl::StatusOr<Instant> reset = session_->Reset(part.ranges);
    if (!reset.ok()) return reset.status();
    part.recorder.Open(*reset);
    part.due_nanos =
        reset->begin_nanos + session_->JitteredNanos(session_->request().options.windows.front());
  }
  return absl::OkStatus();
}

int64_t WideRung::NextDueNanos() const {
  int64_t due = std::numeric_limits<int64_t>::max();
  if (stopped_) return due;
  for (const Part& part : parts_) due = std::min(due, part.due_nanos);
  return due;
}

uint64_t WideRung::looks() const {
  uint64_t fewest = std::numeric_limits<uint64_t>::max();
  for (const Part& part : parts_) fewest = std::min<uint64_t>(fewest, part.recorder.looks());
  return fewest;
}

void WideRung::Carry(const std::vector<PageRange>& written) {
  for (const PageRange& range : written) {
    for (uint64_t address = range.start; address < range.end; address += kPageSize) {
      for (Part& part : parts_) {
        if (!part.ranges.empty() && address >= part.ranges.front().start &&
            ContainsPage(part.ranges, address)) {
          part.carried.insert(address);
          break;
        }
      }
    }
  }
}

absl::Status WideRung::LookAtPart(Part* part) {
  const absl::Duration window = session_->request().options.windows.front();
  if (!session_->budget().MayLook(session_->Now())) {
    part->pausing = true;
    part->due_nanos = session_->budget().RefilledAtNanos(session_->Now());
    return absl::OkStatus();
  }
  std::vector<uint64_t> addresses(part->carried.begin(), part->carried.end());
  std::sort(addresses.begin(), addresses.end());
  part->carried.clear();
  const double spent_before = session_->budget().spent();
  const double own_before = session_->own_seconds_spent();
  const absl::Status looked =
      session_->Look(part->ranges, RangesOfPages(addresses), !part->pausing, &part->recorder);
  if (!looked.ok()) return looked;
  spent_ += session_->budget().spent() - spent_before;
  own_spent_ += session_->own_seconds_spent() - own_before;
  if (spent_ > most_spent_ || own_spent_ > most_own_spent_) StopForCost();
  part->pausing = false;
  part->due_nanos = part->recorder.opened_nanos() + session_->JitteredNanos(window);
  if (part->recorder.looks() % kPromotionLooks == 0) DropSaturated(part);
  return absl::OkStatus();
}

void WideRung::DropSaturated(Part* part) {
  std::vector<uint64_t> saturated;
  const std::vector<PageHits>& pages = part->recorder.pages();
  for (size_t i = 0; i < pages.size(); ++i) {
    if (part->recorder.dropped(i)) continue;
    const double looks = part->recorder.look_count(i);
    if (pages[i].hits > kLeavingRate * looks) saturated.push_back(pages[i].address);
  }
  if (saturated.empty()) return;
  for (const uint64_t address : saturated) part->recorder.Drop(address);
  std::sort(saturated.begin(), saturated.end());
  part->ranges = SubtractRanges(part->ranges, RangesOfPages(saturated));
  const auto middle = candidates_.insert(candidates_.end(), saturated.begin(), saturated.end());
  std::inplace_merge(candidates_.begin(), middle, candidates_.end());
}

absl::Status WideRung::LookAtDueParts() {
  if (stopped_) return absl::OkStatus();
  const int64_t now = session_->Now();
  for (Part& part : parts_) {
    if (part.due_nanos > now) continue;
    if (absl::Status looked = LookAtPart(&part); !looked.ok()) return looked;
  }
  if (const std::optional<double> cpu = session_->CpuBlock(); cpu.has_value()) Settle(*cpu);
  return absl::OkStatus();
}

void WideRung::StopForCost() {
  stopped_ = true;
  for (Part& part : parts_) part.recorder.sample().cut_by_budget = true;
}

void WideRung::Settle(double target_cpu) {
  for (Part& part : parts_) part.recorder.SettleCpu(target_cpu);
}

absl::StatusOr<bool> WideRung::RunUntil(int64_t until_nanos) {
  while (!stopped_) {
    const int64_t due = NextDueNanos();
    if (due > until_nanos) return session_->WaitUntil(until_nanos, false);
    if (!session_->WaitUntil(due, false)) return false;
    if (absl::Status looked = LookAtDueParts(); !looked.ok()) return looked;
  }
  return session_->WaitUntil(until_nanos, false);
}

std::vector<RungSample> WideRung::Finish() && {
  std::vector<RungSample> samples;
  for (Part& part : parts_) samples.push_back(std::move(part.recorder).Finish());
  return samples;
}

}  // namespace mempulse
