#include "collectors/pages/fine_rung.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "collectors/pages/range_set.h"
#include "collectors/pages/sweep_plan.h"

namespace mempulse {
namespace {

constexpr int64_t kWideHeadroomNanos = 200'000;
// A witness must see the target through many of the scheduler's slices of a few milliseconds.
constexpr int64_t kWitnessNanos = 150'000'000;
constexpr uint32_t kWitnessLooks = 100;
constexpr uint32_t kFewestHits = 3;

double AffordableShare(const SweepSession& session, const FineRung::Plan& plan, uint64_t pages) {
  FineMeans means;
  means.seconds = plan.seconds;
  means.burst_ratio = plan.burst_ratio;
  means.window_seconds = absl::ToDoubleSeconds(plan.window);
  means.duration_seconds = static_cast<double>(plan.until_nanos - session.Now()) * 1e-9;
  means.verdict_looks = plan.verdict_looks;
  return FinePageShare(pages, session.traits(), means);
}

uint64_t SeedOf(const SweepSession& session, const FineRung::Plan& plan) {
  return session.request().seed + static_cast<uint64_t>(absl::ToInt64Nanoseconds(plan.window));
}

std::vector<uint64_t> DrawFrom(const std::vector<uint64_t>& pool, double share, uint64_t seed) {
  const std::vector<PageRange> drawn = DrawPages(RangesOfPages(pool), share, seed);
  std::vector<uint64_t> members;
  for (const PageRange& range : drawn) {
    for (uint64_t address = range.start; address < range.end; address += kPageSize)
      members.push_back(address);
  }
  return members;
}

// Few enough that their lone pages do not stretch the windows of the others.
std::vector<uint64_t> DrawWitnesses(const std::vector<uint64_t>& read, const FineRung::Plan& plan,
                                    uint64_t seed) {
  const double most = plan.window >= absl::Microseconds(200) ? 32 : 8;
  return DrawFrom(read, std::min(1.0, most / std::max(1.0, static_cast<double>(read.size()))), seed);
}

std::vector<uint64_t> Merged(const std::vector<uint64_t>& a, const std::vector<uint64_t>& b) {
  std::vector<uint64_t> all;
  std::merge(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(all));
  return all;
}

}  // namespace

FineRung::Drawn FineRung::Draw(const SweepSession& session, const Plan& plan, const Pages& from_above) {
  Drawn drawn;
  drawn.eligible_pages = from_above.saturated.size();
  drawn.page_share = AffordableShare(session, plan, drawn.eligible_pages);
  const std::vector<uint64_t> members =
      DrawFrom(from_above.saturated, drawn.page_share, SeedOf(session, plan));
  const size_t most = MostPagesTogether(session.traits(), absl::ToDoubleSeconds(plan.window));
  for (size_t first = 0; first < members.size(); first += most) {
    const size_t end = std::min(members.size(), first + most);
    drawn.batches.push_back({{members.begin() + first, members.begin() + end}, {}});
  }
  std::vector<uint64_t> witnesses = DrawWitnesses(from_above.read, plan, SeedOf(session, plan));
  if (!witnesses.empty() && (drawn.batches.empty() || drawn.batches.back().members.size() > most / 2)) {
    drawn.batches.emplace_back();
  }
  if (!witnesses.empty()) drawn.batches.back().witnesses = std::move(witnesses);
  return drawn;
}

FineRung::FineRung(SweepSession* session, WideRung* wide, Plan plan, const Batch& batch)
    : session_(session),
      wide_(wide),
      plan_(std::move(plan)),
      ranges_(JoinedRanges(Merged(batch.members, batch.witnesses))),
      recorder_(plan_.window, RangesOfPages(Merged(batch.members, batch.witnesses)),
                session->request().record_hits) {
  recorder_.NameMembers(batch.members);
  recorder_.NameWitnesses(batch.witnesses);
}

absl::Status FineRung::LookNow(bool contiguous) {
  const double spent_before = session_->budget().spent();
  const double own_before = session_->own_seconds_spent();
  const absl::Status looked = session_->Look(ranges_, {}, contiguous, &recorder_);
  spent_ += session_->budget().spent() - spent_before;
  own_spent_ += session_->own_seconds_spent() - own_before;
  if (looked.ok() && wide_ != nullptr) wide_->Carry(session_->written());
  return looked;
}

absl::StatusOr<bool> FineRung::Run() {
  if (absl::Status opened = LookNow(true); !opened.ok()) return opened;
  began_nanos_ = session_->Now();
  const absl::StatusOr<bool> went_on = RunLooks();
  const double active = static_cast<double>(session_->Now() - began_nanos_) * 1e-9;
  RungSample& sample = recorder_.sample();
  if (active > 0) sample.hits_per_second = static_cast<double>(sample.induced_faults) / active;
  return went_on;
}

absl::StatusOr<bool> FineRung::RunLooks() {
  const bool precise = plan_.window < absl::Microseconds(200);
  bool contiguous = true;
  while (session_->Now() < plan_.until_nanos) {
    int64_t due = recorder_.opened_nanos() + session_->JitteredNanos(plan_.window);
    if (!contiguous) due = session_->budget().RefilledAtNanos(session_->Now());
    while (wide_ != nullptr && wide_->NextDueNanos() + kWideHeadroomNanos < due) {
      if (!session_->WaitUntil(wide_->NextDueNanos(), false)) return false;
      if (absl::Status looked = wide_->LookAtDueParts(); !looked.ok()) return looked;
    }
    const double own_before = session_->own_seconds_spent();
    if (!session_->WaitUntil(due, precise)) return false;
    own_spent_ += session_->own_seconds_spent() - own_before;
    if (absl::Status looked = LookNow(contiguous); !looked.ok()) return looked;
    if (wide_ != nullptr && wide_->NextDueNanos() <= session_->Now()) {
      if (absl::Status looked = wide_->LookAtDueParts(); !looked.ok()) return looked;
    }
    if (const std::optional<double> cpu = session_->CpuBlock(); cpu.has_value()) {
      recorder_.SettleCpu(*cpu);
      if (wide_ != nullptr) wide_->Settle(*cpu);
    }
    if (recorder_.looks() >= plan_.verdict_looks && recorder_.looks() % 8 == 0 && !DropDecided()) return true;
    if (spent_ > plan_.seconds || own_spent_ > plan_.own_seconds) {
      recorder_.sample().cut_by_budget = true;
      return true;
    }
    contiguous = session_->budget().MayLook(session_->Now());
  }
  return true;
}

// A call for each lone page, and with it a flush of the target's translation buffers, costs several
// microseconds; walking over its neighbours costs nanoseconds each. But a neighbour that is written all the
// time would fault at every look.
std::vector<PageRange> FineRung::JoinedRanges(const std::vector<uint64_t>& active) const {
  std::vector<uint64_t> others;
  std::set_difference(plan_.hot.begin(), plan_.hot.end(), active.begin(), active.end(),
                      std::back_inserter(others));
  return SubtractRanges(RangesOfPages(active, plan_.join_pages), RangesOfPages(others));
}

bool FineRung::IsDecided(size_t page) const {
  const PageHits& hits = recorder_.pages()[page];
  const uint32_t looks = recorder_.look_count(page);
  if (looks < plan_.verdict_looks) return false;
  if (hits.witness) {
    const bool long_enough = session_->Now() - began_nanos_ >= kWitnessNanos && looks >= kWitnessLooks;
    return long_enough || hits.hits >= kEnoughHits;
  }
  const bool tight = hits.hits >= kEnoughHits && hits.hits < kSaturatedRate * looks;
  return tight || hits.hits >= (plan_.final_verdict ? kVerdictRate : kLeavingRate) * looks;
}

bool FineRung::DropDecided() {
  std::vector<uint64_t> open;
  bool dropped = false;
  for (size_t i = 0; i < recorder_.pages().size(); ++i) {
    const uint64_t address = recorder_.pages()[i].address;
    if (recorder_.dropped(i)) continue;
    if (IsDecided(i)) {
      recorder_.Drop(address);
      dropped = true;
    } else {
      open.push_back(address);
    }
  }
  std::sort(open.begin(), open.end());
  if (dropped) ranges_ = JoinedRanges(open);
  return !open.empty();
}

FineRung::Pages FineRung::Verdicts() const {
  Pages verdicts;
  for (size_t i = 0; i < recorder_.pages().size(); ++i) {
    const PageHits& page = recorder_.pages()[i];
    if (page.witness || page.hits < kFewestHits) continue;
    const bool saturated = page.hits > kSaturatedRate * recorder_.look_count(i);
    (saturated ? verdicts.saturated : verdicts.read).push_back(page.address);
  }
  std::sort(verdicts.saturated.begin(), verdicts.saturated.end());
  std::sort(verdicts.read.begin(), verdicts.read.end());
  return verdicts;
}

RungSample FineRung::Finish() && { return std::move(recorder_).Finish(); }

}  // namespace mempulse
