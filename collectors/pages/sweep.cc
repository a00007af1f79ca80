#include "collectors/pages/sweep.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <utility>

#include "collectors/pages/cross_check.h"
#include "collectors/pages/range_set.h"
#include "collectors/pages/sweep_plan.h"
#include "collectors/pages/sweep_regions.h"
#include "collectors/pages/wide_rung.h"

namespace mempulse {
namespace {

// Shares of the budget of one sweep.
constexpr double kGapShare = 0.25;
constexpr double kScoutShare = 0.2;
constexpr double kWideShare = 0.4;

// Pages are drawn in small blocks: every page has the same chance, and a call serves several.
constexpr uint64_t kDrawnBlockPages = 16;
constexpr uint64_t kPilotPages = 2000;
// Gaps that a fine rung walks over, where the wide rung has looked at every page and where it has looked at a
// sample.
constexpr uint64_t kJoinKnownPages = 256;
constexpr uint64_t kJoinUnknownPages = 2;
constexpr int kScoutWindows = 10;  // wide windows in one scout window

// How the time and the budget of the fine rungs are shared: by length, long ones first.
double WeightOf(absl::Duration window) {
  if (window >= absl::Milliseconds(1)) return 3;
  return window >= absl::Microseconds(200) ? 2.5 : 1;
}

// Windows that are spun for take a whole CPU of ours.
int64_t LongestNanos(absl::Duration window) {
  if (window >= absl::Milliseconds(1)) return std::numeric_limits<int64_t>::max();
  return window >= absl::Microseconds(200) ? 1'000'000'000 : 300'000'000;
}

WideMeans MeansOf(const SweepRequest& request) {
  WideMeans means;
  means.target_seconds = request.target_seconds * kWideShare;
  means.own_seconds = request.own_seconds * kWideShare;
  means.burst_ratio = request.options.burst_limit;
  means.window_seconds = absl::ToDoubleSeconds(request.options.windows.front());
  return means;
}

std::vector<absl::Duration> FineWindows(const SweepOptions& options, const TrackerTraits& traits) {
  std::vector<absl::Duration> windows(options.windows.begin() + 1, options.windows.end());
  if (traits.atomic && traits.resets_range && traits.sees_restores) {
    windows.insert(windows.end(), options.fine_windows.begin(), options.fine_windows.end());
  }
  std::erase_if(windows, [&traits](absl::Duration window) {
    return absl::ToInt64Nanoseconds(window) < traits.shortest_window_nanos;
  });
  return windows;
}

// What the wide rung has handed over since the last time joins those that go on to the next window. All
// ascending.
void TakeNewCandidates(const std::vector<uint64_t>& candidates, std::vector<uint64_t>* known,
                       std::vector<uint64_t>* pages) {
  std::vector<uint64_t> fresh;
  std::set_difference(candidates.begin(), candidates.end(), known->begin(), known->end(),
                      std::back_inserter(fresh));
  *known = candidates;
  const auto middle = pages->insert(pages->end(), fresh.begin(), fresh.end());
  std::inplace_merge(pages->begin(), middle, pages->end());
}

SweepOutcome OutcomeOf(const absl::Status& end) {
  if (absl::IsNotFound(end)) return SweepOutcome::kExited;
  if (absl::IsCancelled(end)) return SweepOutcome::kStopped;
  if (absl::IsAborted(end)) return SweepOutcome::kForeignTracker;
  return end.ok() ? SweepOutcome::kComplete : SweepOutcome::kFailed;
}

}  // namespace

Sweep::Sweep(PageTracker& tracker, Clock& clock, SweepTarget target)
    : tracker_(tracker), clock_(clock), target_(std::move(target)) {}

absl::StatusOr<Sweep::Result> Sweep::Run(const SweepRequest& request, const std::stop_token& stop) {
  SweepSession session(tracker_, clock_, target_, request, stop);
  if (absl::Status covered = session.Cover(); !covered.ok()) return covered;
  Result result;
  SweepSample& sample = result.sample;
  sample.tracker = tracker_.kind();
  sample.atomic = tracker_.traits().atomic;
  sample.sees_restores = tracker_.traits().sees_restores;
  sample.target_seconds_per_hit = tracker_.traits().target_seconds_per_hit;
  sample.ceiling_window = request.options.ceiling_window;
  sample.tracked_pages = session.coverage().pages;
  sample.huge_pages_skipped = session.coverage().huge_pages_skipped;

  absl::StatusOr<Population> population = ChoosePopulation(&session, &sample);
  result.end = population.status();
  if (population.ok()) result.end = RunLadder(&session, *population, &sample);
  if (result.end.ok()) result.end = CrossCheckSweep(&session, &sample);
  if (result.end.ok() && request.open_gap) OpenGap(&session);

  sample.outcome = stop.stop_requested() ? SweepOutcome::kStopped : OutcomeOf(result.end);
  if (result.end.ok() && session.budget().left() < 0) sample.outcome = SweepOutcome::kBudget;
  sample.regions = RegionsOf(session.mappings(), session.coverage());
  sample.target_cpu = session.MeanCpu();
  sample.duration_seconds = static_cast<double>(session.Now() - session.started_nanos()) * 1e-9;
  result.coverage = session.coverage();
  result.own_seconds = session.own_seconds_spent();
  result.target_seconds = session.budget().spent();
  return result;
}

absl::StatusOr<std::vector<PageRange>> Sweep::LookAtGap(SweepSession* session, SweepSample* sample) {
  sample->gap.looked = IntersectRanges(gap_ranges_, session->coverage().ranges);
  RungRecorder recorder(absl::ZeroDuration(), sample->gap.looked, false);
  recorder.Open(gap_opened_);
  if (absl::Status looked = session->Look(sample->gap.looked, {}, true, &recorder); !looked.ok())
    return looked;
  if (recorder.looks() > 0) sample->gap.window_seconds = recorder.sample().looks.front().window_seconds;
  sample->gap.written = IntersectRanges(MergeRanges(session->written()), sample->gap.looked);
  const double looked_pages = static_cast<double>(CountPages(sample->gap.looked));
  if (looked_pages > 0) {
    gap_written_share_ = static_cast<double>(CountPages(sample->gap.written)) / looked_pages;
  }
  return sample->gap.written;
}

absl::StatusOr<Sweep::Pilot> Sweep::RunPilot(SweepSession* session, const std::vector<PageRange>& ranges) {
  const uint64_t pages = CountPages(ranges);
  const double share = std::min(1.0, static_cast<double>(kPilotPages) / static_cast<double>(pages));
  const std::vector<PageRange> pilot =
      DrawBlocks(ranges, share, kDrawnBlockPages, session->request().seed + 1);
  const double pilot_pages = static_cast<double>(CountPages(pilot));
  if (pilot_pages <= 0) return Pilot{};
  const absl::Duration window = session->request().options.windows.front();
  RungRecorder recorder(window, pilot, false);
  const absl::StatusOr<Instant> reset = session->Reset(pilot);
  if (!reset.ok()) return reset.status();
  recorder.Open(*reset);
  if (!session->WaitUntil(session->Now() + session->JitteredNanos(window), false)) {
    return absl::CancelledError("stopped while piloting");
  }
  const double own_before = session->own_seconds_spent();
  if (absl::Status looked = session->Look(pilot, {}, true, &recorder); !looked.ok()) return looked;
  return Pilot{static_cast<double>(CountPages(session->written())) / pilot_pages,
               (session->own_seconds_spent() - own_before) / pilot_pages};
}

absl::StatusOr<Sweep::Population> Sweep::Scout(SweepSession* session, std::vector<PageRange> ranges,
                                               double share) {
  const absl::StatusOr<Pilot> pilot = RunPilot(session, ranges);
  if (!pilot.ok()) return pilot.status();
  const double expected = static_cast<double>(CountPages(ranges)) * pilot->hit_share *
                          tracker_.traits().target_seconds_per_hit * 2;
  const double means = session->request().target_seconds * kScoutShare;
  if (expected > means) {
    share *= means / expected;
    ranges = DrawBlocks(ranges, means / expected, kDrawnBlockPages, session->request().seed + 2);
  }
  const absl::Duration window = session->request().options.windows.front();
  RungRecorder recorder(window, ranges, false);
  const absl::StatusOr<Instant> reset = session->Reset(ranges);
  if (!reset.ok()) return reset.status();
  recorder.Open(*reset);
  if (!session->WaitUntil(reset->end_nanos + kScoutWindows * absl::ToInt64Nanoseconds(window), false)) {
    return absl::CancelledError("stopped while scouting");
  }
  if (absl::Status looked = session->Look(ranges, {}, true, &recorder); !looked.ok()) return looked;
  return Population{MergeRanges(session->written()), share, 0};
}

absl::StatusOr<Sweep::Population> Sweep::ChoosePopulation(SweepSession* session, SweepSample* sample) {
  const SweepRequest& request = session->request();
  Population population{session->coverage().ranges, 1, 0};
  if (!request.only.empty()) population.ranges = IntersectRanges(population.ranges, request.only);
  if (!gap_ranges_.empty()) {
    absl::StatusOr<std::vector<PageRange>> written = LookAtGap(session, sample);
    if (!written.ok()) return written.status();
    // What appeared since the last sweep was not reset then: it is looked at as a whole.
    std::vector<PageRange> ranges = SubtractRanges(session->coverage().ranges, covered_before_);
    ranges.insert(ranges.end(), written->begin(), written->end());
    population = {MergeRanges(std::move(ranges)), gap_share_, 0};
  }
  const WideMeans means = MeansOf(request);
  const WidePlan plan = PlanWalk(CountPages(population.ranges), tracker_.traits(), means);
  if (plan.scout) {
    if (plan.block_share < 1) {
      population.ranges = DrawBlocks(population.ranges, plan.block_share, kDrawnBlockPages, request.seed + 3);
    }
    absl::StatusOr<Population> scouted =
        Scout(session, std::move(population.ranges), population.share * plan.block_share);
    if (!scouted.ok()) return scouted;
    population = *std::move(scouted);
  }
  const uint64_t pages = CountPages(population.ranges);
  const bool certain = static_cast<double>(pages) * tracker_.traits().target_seconds_per_hit <=
                       means.burst_ratio * means.window_seconds;
  if (!certain) {
    const absl::StatusOr<Pilot> pilot = RunPilot(session, population.ranges);
    if (!pilot.ok()) return pilot.status();
    const WidePopulation found{pages, pilot->hit_share, pilot->own_seconds_per_page};
    const double share = WidePageShare(found, tracker_.traits(), means);
    if (share < 1) population.ranges = DrawBlocks(population.ranges, share, kDrawnBlockPages, request.seed);
    population.share *= share;
  }
  population.eligible = static_cast<uint64_t>(static_cast<double>(CountPages(population.ranges)) /
                                              std::max(population.share, 1e-9));
  return population;
}

absl::Status Sweep::RunLadder(SweepSession* session, const Population& population, SweepSample* sample) {
  WideRung wide(session, population.ranges, population.share, population.eligible);
  if (population.ranges.empty()) return absl::OkStatus();
  if (absl::Status opened = wide.Open(); !opened.ok()) return opened;
  const int64_t window = absl::ToInt64Nanoseconds(session->request().options.windows.front());
  absl::StatusOr<bool> more = true;
  // Candidates are those of the first verdict, or, where the budget stretches the looks, of the first third.
  const int64_t third = session->Now() + (session->ends_nanos() - session->Now()) / 3;
  while (more.ok() && *more && wide.looks() <= kPromotionLooks && session->Now() < third) {
    more = wide.RunUntil(std::min(third, session->Now() + window));
  }
  const bool beside = session->traits().resets_range;
  if (more.ok() && *more && !beside) more = wide.RunUntil(third);
  if (more.ok() && *more) more = RunFineRungs(session, &wide, sample);
  // A finer rung took the bits away from this one; without any, it goes on.
  if (more.ok() && *more && (beside || sample->rungs.empty())) more = wide.RunUntil(session->ends_nanos());
  std::vector<RungSample> samples = std::move(wide).Finish();
  sample->rungs.insert(sample->rungs.begin(), std::make_move_iterator(samples.begin()),
                       std::make_move_iterator(samples.end()));
  return more.status();
}

absl::StatusOr<bool> Sweep::RunFineRungs(SweepSession* session, WideRung* wide, SweepSample* sample) {
  const SweepOptions& options = session->request().options;
  const std::vector<absl::Duration> windows = FineWindows(options, session->traits());
  WideRung* const beside = session->traits().resets_range ? wide : nullptr;
  const uint32_t promotion = session->traits().sees_restores ? kPromotionLooks : kBlindPromotionLooks;
  double weights = 0;
  for (const absl::Duration window : windows) weights += WeightOf(window);
  FineRung::Pages pages;
  std::vector<uint64_t> known;
  for (const absl::Duration window : windows) {
    TakeNewCandidates(wide->candidates(), &known, &pages.saturated);
    const double weight = WeightOf(window) / weights;
    weights -= WeightOf(window);
    // The wide rung beside needs its part of what is left.
    const double left = session->budget().left() * (beside != nullptr ? 0.7 : 1);
    const int64_t now = session->Now();
    const int64_t time = static_cast<int64_t>(static_cast<double>(session->ends_nanos() - now) * weight);
    if (pages.saturated.empty() && pages.read.empty()) {
      // A moment without the processor keeps pages back that the next verdict lets through.
      if (beside == nullptr) break;
      const absl::StatusOr<bool> more = beside->RunUntil(now + time);
      if (!more.ok() || !*more) return more;
      continue;
    }
    FineRung::Plan plan;
    plan.window = window;
    plan.seconds = std::max(0.0, left) * weight;
    plan.own_seconds = std::max(0.0, session->request().own_seconds - session->own_seconds_spent()) * weight;
    plan.burst_ratio = session->burst_ratio();
    plan.until_nanos = now + time;
    plan.final_verdict = window == windows.back() || window == options.ceiling_window;
    plan.verdict_looks = plan.final_verdict ? kVerdictLooks : promotion;
    plan.join_pages = wide->page_share() < 1 ? kJoinUnknownPages : kJoinKnownPages;
    plan.hot = wide->candidates();
    const absl::StatusOr<bool> more = RunBatches(session, beside, plan, &pages, sample);
    if (!more.ok() || !*more) return more;
  }
  return true;
}

absl::StatusOr<bool> Sweep::RunBatches(SweepSession* session, WideRung* beside, FineRung::Plan plan,
                                       FineRung::Pages* pages, SweepSample* sample) {
  const FineRung::Drawn drawn = FineRung::Draw(*session, plan, *pages);
  pages->read.clear();
  // A rung that nothing can be afforded on leaves its candidates to the next one.
  if (!drawn.batches.empty()) pages->saturated.clear();
  const int64_t rung_ends = plan.until_nanos;
  const double batches = static_cast<double>(std::max<size_t>(1, drawn.batches.size()));
  const double rung_seconds = plan.seconds / batches;
  plan.own_seconds /= batches;
  absl::StatusOr<bool> more = true;
  for (size_t i = 0; i < drawn.batches.size() && more.ok() && *more; ++i) {
    const int64_t now = session->Now();
    const int64_t share = (rung_ends - now) / static_cast<int64_t>(drawn.batches.size() - i);
    plan.until_nanos = now + std::min(share, LongestNanos(plan.window));
    plan.seconds = rung_seconds;
    FineRung rung(session, beside, plan, drawn.batches[i]);
    more = rung.Run();
    FineRung::Pages verdicts = rung.Verdicts();
    pages->saturated.insert(pages->saturated.end(), verdicts.saturated.begin(), verdicts.saturated.end());
    pages->read.insert(pages->read.end(), verdicts.read.begin(), verdicts.read.end());
    sample->rungs.push_back(std::move(rung).Finish());
    sample->rungs.back().page_share = drawn.page_share;
    sample->rungs.back().eligible_pages = drawn.eligible_pages;
    sample->rungs.back().cut_by_budget |= drawn.page_share < 1;
  }
  std::sort(pages->saturated.begin(), pages->saturated.end());
  std::sort(pages->read.begin(), pages->read.end());
  return more;
}

void Sweep::OpenGap(SweepSession* session) {
  const SweepRequest& request = session->request();
  covered_before_ = session->coverage().ranges;
  const double cost = static_cast<double>(session->coverage().pages) * gap_written_share_ *
                      std::max(tracker_.traits().target_seconds_per_hit, 1e-9);
  const double means = request.target_seconds * kGapShare;
  gap_share_ = cost > means && session->traits().resets_range ? means / cost : 1;
  gap_ranges_ = DrawBlocks(covered_before_, gap_share_, kDrawnBlockPages, request.seed + 4);
  const absl::StatusOr<Instant> reset = session->Reset(gap_ranges_);
  if (reset.ok()) {
    gap_opened_ = *reset;
  } else {
    gap_ranges_.clear();
  }
}

}  // namespace mempulse
