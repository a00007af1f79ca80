#include "collectors/pages/fine_rung.h"

#include <algorithm>
#include <utility>

#include "collectors/pages/range_set.h"
#include "collectors/pages/sweep_plan.h"

namespace mempulse {
namespace {

// A system call for each lone page costs more than walking a few of its neighbours.
constexpr uint64_t kJoinPages = 8;
constexpr int64_t kWideHeadroomNanos = 200'000;

double DrawShare(const TrackerTraits& traits, const FineRung::Plan& plan, uint64_t pages,
                 double duration_seconds) {
  FineMeans means;
  means.seconds = plan.seconds;
  means.burst_ratio = plan.burst_ratio;
  means.window_seconds = absl::ToDoubleSeconds(plan.window);
  means.duration_seconds = duration_seconds;
  means.verdict_looks = plan.verdict_looks;
  return FinePageShare(pages, traits, means);
}

std::vector<uint64_t> Draw(const std::vector<uint64_t>& pool, double share, uint64_t seed) {
  const std::vector<PageRange> drawn = DrawPages(RangesOfPages(pool), share, seed);
  std::vector<uint64_t> members;
  for (const PageRange& range : drawn) {
    for (uint64_t address = range.start; address < range.end; address += kPageSize)
      members.push_back(address);
  }
  return members;
}

}  // namespace

FineRung::FineRung(SweepSession* session, WideRung* wide, const Plan& plan, std::vector<uint64_t> pool)
    : session_(session),
      wide_(wide),
      plan_(plan),
      page_share_(DrawShare(session->traits(), plan, pool.size(),
                            static_cast<double>(plan.until_nanos - session->Now()) * 1e-9)),
      members_(page_share_ > 0 ? Draw(pool, page_share_, session->request().seed ^ pool.size())
                               : std::vector<uint64_t>()),
      ranges_(RangesOfPages(members_, kJoinPages)),
      recorder_(plan.window, RangesOfPages(members_), session->request().record_hits) {
  recorder_.NameMembers(members_);
  RungSample& sample = recorder_.sample();
  sample.page_share = page_share_;
  sample.eligible_pages = pool.size();
  sample.cut_by_budget = page_share_ < 1;
}

absl::Status FineRung::LookNow(bool contiguous) {
  const absl::Status looked = session_->Look(ranges_, {}, contiguous, &recorder_);
  if (looked.ok() && wide_ != nullptr) wide_->Carry(session_->written());
  return looked;
}

absl::StatusOr<bool> FineRung::Run() {
  if (members_.empty()) return true;
  if (absl::Status opened = LookNow(true); !opened.ok()) return opened;
  const int64_t began = session_->Now();
  const absl::StatusOr<bool> went_on = RunLooks();
  const double active = static_cast<double>(session_->Now() - began) * 1e-9;
  RungSample& sample = recorder_.sample();
  if (active > 0) sample.hits_per_second = static_cast<double>(sample.induced_faults) / active;
  return went_on;
}

absl::StatusOr<bool> FineRung::RunLooks() {
  const double spent_before = session_->budget().spent();
  const bool precise = plan_.window < absl::Milliseconds(1);
  bool contiguous = true;
  while (session_->Now() < plan_.until_nanos) {
    int64_t due = recorder_.opened_nanos() + session_->JitteredNanos(plan_.window);
    if (!contiguous) due = session_->budget().RefilledAtNanos(session_->Now());
    while (wide_ != nullptr && wide_->NextDueNanos() + kWideHeadroomNanos < due) {
      if (!session_->WaitUntil(wide_->NextDueNanos(), false)) return false;
      if (absl::Status looked = wide_->LookAtDueParts(); !looked.ok()) return looked;
    }
    if (!session_->WaitUntil(due, precise)) return false;
    if (absl::Status looked = LookNow(contiguous); !looked.ok()) return looked;
    if (wide_ != nullptr && wide_->NextDueNanos() <= session_->Now()) {
      if (absl::Status looked = wide_->LookAtDueParts(); !looked.ok()) return looked;
    }
    if (const std::optional<double> cpu = session_->CpuBlock(); cpu.has_value()) {
      recorder_.SettleCpu(*cpu);
      if (wide_ != nullptr) wide_->Settle(*cpu);
    }
    if (recorder_.looks() >= plan_.verdict_looks && recorder_.looks() % 8 == 0 && !DropDecided()) return true;
    if (session_->budget().spent() - spent_before > plan_.seconds) {
      recorder_.sample().cut_by_budget = true;
      return true;
    }
    contiguous = session_->budget().MayLook(session_->Now());
  }
  return true;
}

bool FineRung::DropDecided() {
  std::vector<uint64_t> open;
  bool dropped = false;
  const std::vector<PageHits>& pages = recorder_.pages();
  for (size_t i = 0; i < pages.size(); ++i) {
    if (recorder_.dropped(i)) continue;
    const uint32_t looks = recorder_.look_count(i);
    const double needed = plan_.final_verdict ? looks : kLeavingRate * looks;
    const bool saturated = looks >= plan_.verdict_looks && pages[i].hits >= needed;
    const bool tight = pages[i].hits >= kEnoughHits && pages[i].hits < kSaturatedRate * looks;
    if (saturated) saturated_.push_back(pages[i].address);
    if (saturated || tight) {
      recorder_.Drop(pages[i].address);
      dropped = true;
    } else {
      open.push_back(pages[i].address);
    }
  }
  if (dropped) ranges_ = RangesOfPages(open, kJoinPages);
  return !open.empty();
}

std::vector<uint64_t> FineRung::Saturated() const {
  std::vector<uint64_t> saturated = saturated_;
  const std::vector<PageHits>& pages = recorder_.pages();
  for (size_t i = 0; i < pages.size(); ++i) {
    const bool fast = pages[i].hits > kSaturatedRate * recorder_.look_count(i);
    if (!recorder_.dropped(i) && pages[i].hits > 0 && fast) saturated.push_back(pages[i].address);
  }
  std::sort(saturated.begin(), saturated.end());
  return saturated;
}

RungSample FineRung::Finish() && { return std::move(recorder_).Finish(); }

}  // namespace mempulse
