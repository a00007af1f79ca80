#include "exporter/round/target_watch.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "collectors/host/process_cpu.h"
#include "collectors/pages/cooperative_offers.h"
#include "collectors/pages/range_set.h"
#include "collectors/pages/sweep_regions.h"
#include "exporter/analysis/invert_windows.h"

namespace mempulse {
namespace {

constexpr size_t kMostHotRegions = 256;
constexpr int kRetryRounds = 10;

ObserverEffect Difference(const ObserverEffect& now, const ObserverEffect& before) {
  ObserverEffect effect;
  effect.stop_seconds = now.stop_seconds - before.stop_seconds;
  effect.stops = now.stops - before.stops;
  effect.induced_faults = now.induced_faults - before.induced_faults;
  effect.huge_pages_split = now.huge_pages_split - before.huge_pages_split;
  effect.lock_seconds = now.lock_seconds - before.lock_seconds;
  return effect;
}

bool HasAnswer(SweepOutcome outcome) {
  return outcome == SweepOutcome::kComplete || outcome == SweepOutcome::kBudget ||
         outcome == SweepOutcome::kTimeLimit;
}

}  // namespace

std::string ErrorReasonOf(const absl::Status& status, absl::string_view stage) {
  if (absl::IsNotFound(status)) return "target_gone";
  if (absl::IsUnavailable(status)) return "permission";
  if (absl::IsDeadlineExceeded(status)) return "time_limit";
  return std::string(stage);
}

std::vector<RungSummary> SummariseRungs(const SweepSample& sample) {
  std::vector<RungSummary> summaries;
  for (const RungSample& rung : sample.rungs) {
    if (summaries.empty() || summaries.back().requested != rung.requested) {
      summaries.emplace_back().requested = rung.requested;
      summaries.back().page_share = rung.page_share;
    }
    RungSummary& summary = summaries.back();
    double seconds = summary.mean_window_seconds * static_cast<double>(summary.looks);
    for (const Look& look : rung.looks) {
      if (!look.contiguous || look.discarded) continue;
      seconds += look.window_seconds;
      ++summary.looks;
    }
    if (summary.looks > 0) summary.mean_window_seconds = seconds / static_cast<double>(summary.looks);
    summary.pages += static_cast<double>(CountPages(rung.ranges));
    summary.induced_faults += rung.induced_faults;
    summary.cut_by_budget |= rung.cut_by_budget;
  }
  return summaries;
}

TargetWatch::TargetWatch(const Host& host, Clock& clock, ProcessFacts facts,
                         std::vector<TrackerSupport> own_support, CooperativeOffers* offers)
    : host_(host),
      clock_(clock),
      facts_(std::move(facts)),
      own_support_(std::move(own_support)),
      offers_(offers),
      build_ids_(host) {
  report_.id = facts_.id;
  report_.comm = facts_.comm;
  report_.exe = facts_.exe;
  report_.tracker = "none";
  report_.swept_at = absl::InfinitePast();
}

void TargetWatch::Close() {
  sweep_.reset();
  content_.reset();
  tracker_.reset();
  target_.reset();
  effect_before_ = {};
}

bool TargetWatch::Alive() const {
  if (target_ == nullptr) return false;
  const absl::StatusOr<Target::Change> change = target_->Check(host_);
  return change.ok() && *change != Target::Change::kExited;
}

absl::Status TargetWatch::Open(const WatchRequest& request) {
  absl::StatusOr<Target> target = Target::Open(host_, facts_);
  if (!target.ok()) return target.status();
  target_ = std::make_unique<Target>(*std::move(target));
  if (offers_ != nullptr) offer_tried_ = offers_->Newest(facts_.id);
  absl::StatusOr<ChosenTracker> chosen = OpenTracker(host_, *target_, own_support_, request.group.tracker,
                                                     AttachTerms{request.group.attach, offers_});
  if (!chosen.ok()) return chosen.status();
  report_.support = std::move(chosen->support);
  report_.tracker = "none";
  if (chosen->tracker == nullptr) {
    rounds_until_retry_ = kRetryRounds;
    return absl::UnavailableError("no page tracker works on this target");
  }
  tracker_ = std::move(chosen->tracker);
  report_.tracker = std::string(TrackerKindName(tracker_->kind()));
  const pid_t pid = facts_.id.pid;
  SweepTarget door;
  door.mappings = [this, pid] {
    bool truncated = false;
    return ReadMappings(host_, pid, &truncated);
  };
  door.cpu_nanos = [pid] { return ProcessCpuNanos(pid); };
  if (tracker_->kind() != TrackerKind::kHashDiff) {
    if (absl::StatusOr<std::unique_ptr<PageContent>> content = PageContent::Open(host_, pid); content.ok()) {
      content_ = *std::move(content);
      door.hash_pages = [this](absl::Span<const PageRange> ranges) { return content_->Hash(ranges); };
    }
  }
  sweep_ = std::make_unique<mempulse::Sweep>(*tracker_, clock_, std::move(door));
  return absl::OkStatus();
}

// An offer may come after we have had to settle for less: when a target is restarted by itself, or executes a
// program.
void TargetWatch::TakeUpOffer(const TargetGroupOptions& group) {
  const bool wanted =
      group.attach == AttachChoice::kCooperative &&
      (group.tracker == TrackerChoice::kAuto || group.tracker == TrackerChoice::kWriteProtect);
  if (!wanted || offers_ == nullptr) return;
  if (tracker_ != nullptr && tracker_->kind() == TrackerKind::kWriteProtect) return;
  const uint64_t newest = offers_->Newest(facts_.id);
  if (newest == 0 || newest == offer_tried_) return;
  Close();
  rounds_until_retry_ = 0;
}

ObserverEffect TargetWatch::EffectSinceLast() {
  if (tracker_ == nullptr) return {};
  const ObserverEffect now = tracker_->effect();
  return Difference(now, std::exchange(effect_before_, now));
}

WatchOutcome TargetWatch::Sweep(const WatchRequest& request, const std::stop_token& stop) {
  WatchOutcome outcome;
  if (target_ != nullptr) {
    const absl::StatusOr<Target::Change> change = target_->Check(host_);
    if (change.ok() && *change == Target::Change::kExecuted) Close();
  }
  TakeUpOffer(request.group);
  if (sweep_ == nullptr) {
    if (rounds_until_retry_ > 0) {
      --rounds_until_retry_;
      outcome.problem = absl::UnavailableError("no page tracker works on this target");
      outcome.error_reason = "permission";
      return outcome;
    }
    if (absl::Status opened = Open(request); !opened.ok()) {
      Close();
      outcome.outcome = absl::IsNotFound(opened) ? SweepOutcome::kExited : SweepOutcome::kFailed;
      outcome.error_reason = ErrorReasonOf(opened, "attach");
      outcome.problem = std::move(opened);
      return outcome;
    }
  }
  SweepRequest sweep;
  sweep.options = request.group.sweep;
  sweep.spread = request.spread;
  sweep.target_seconds = request.group.sweep.budget * absl::ToDoubleSeconds(request.interval);
  sweep.own_seconds = sweep.target_seconds;
  sweep.own_burst = request.group.sweep.burst_limit;
  sweep.seed = request.seed;
  const int64_t cpu_before = ThreadCpuNanos();
  absl::StatusOr<mempulse::Sweep::Result> result = sweep_->Run(sweep, stop);
  outcome.effect = EffectSinceLast();
  outcome.effect.own_cpu_seconds = static_cast<double>(ThreadCpuNanos() - cpu_before) * 1e-9;
  absl::Status end = result.ok() ? result->end : result.status();
  if (result.ok()) outcome.outcome = result->sample.outcome;
  const absl::StatusOr<Target::Change> change = target_->Check(host_);
  if (change.ok() && *change == Target::Change::kExecuted) outcome.outcome = SweepOutcome::kExecuted;
  if (change.ok() && *change == Target::Change::kExited) outcome.outcome = SweepOutcome::kExited;
  report_.outcome = outcome.outcome;
  if (!end.ok()) {
    outcome.error_reason = ErrorReasonOf(end, "tracker");
    outcome.problem = std::move(end);
  }
  if (HasAnswer(outcome.outcome)) {
    Analyse(request, *std::move(result), &outcome);
  } else {
    Close();
  }
  return outcome;
}

void TargetWatch::Analyse(const WatchRequest& request, mempulse::Sweep::Result result,
                          WatchOutcome* outcome) {
  SweepSample& sample = result.sample;
  outcome->cross_check = sample.cross_check;
  report_.swept_at = clock_.Now();
  report_.sweep_seconds = sample.duration_seconds;
  report_.tracked_pages = sample.tracked_pages;
  report_.huge_pages_skipped = sample.huge_pages_skipped;
  report_.refused_pages.clear();
  for (const Coverage::Refusal& refusal : result.coverage.refusals) {
    report_.refused_pages[refusal.reason] += refusal.range.pages();
  }
  report_.target_cpu = sample.target_cpu;
  report_.budget_used = result.target_seconds / absl::ToDoubleSeconds(request.interval);
  report_.map = InvertWindows(sample);
  report_.distribution = Distribute(report_.map);
  report_.hot_regions = MergeHotRegions(report_.map);
  if (report_.hot_regions.size() > kMostHotRegions) report_.hot_regions.resize(kMostHotRegions);
  report_.rungs = SummariseRungs(sample);
  report_.gap_seconds = sample.gap.window_seconds;
  report_.gap_written_pages = static_cast<double>(CountPages(sample.gap.written));
  report_.regions = std::move(sample.regions);
  NameObjects();
  for (const PageFrequency& page : report_.map.pages) {
    if (page.frequency_hertz > 0 && std::isfinite(page.frequency_hertz)) {
      outcome->observed_hertz.push_back(page.frequency_hertz);
    }
  }
}

void TargetWatch::NameObjects() {
  for (const HotRegion& hot : report_.hot_regions) {
    if (hot.region < 0 || static_cast<size_t>(hot.region) >= report_.regions.size()) continue;
    SweepRegion& region = report_.regions[static_cast<size_t>(hot.region)];
    if (region.inode == 0 || !region.build_id.empty()) continue;
    region.build_id = build_ids_.Of(facts_.id.pid, MappingOf(region));
  }
}

}  // namespace mempulse
