#include "exporter/round/round_runner.h"

#include <unistd.h>

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "collectors/host/process_cpu.h"

namespace mempulse {
namespace {

// Of a round, at most this share is swept; the rest is the gap.
constexpr double kSweptShare = 0.45;
constexpr absl::Duration kShortestSpread = absl::Milliseconds(500);
constexpr absl::Duration kPublishPause = absl::Milliseconds(500);

}  // namespace

RoundRunner::RoundRunner(const Host& host, Clock& clock, Logger& log,
                         std::function<void(const RoundReport&)> publish, CooperativeOffers* offers)
    : host_(host),
      clock_(clock),
      log_(log),
      publish_(std::move(publish)),
      watches_([this, offers](const ProcessFacts& facts) {
        return std::make_unique<TargetWatch>(host_, clock_, facts, own_support_, offers);
      }) {}

RoundRunner::~RoundRunner() {
  {
    const absl::MutexLock lock(&mutex_);
    stopping_ = true;
  }
  for (std::jthread& worker : workers_) worker.request_stop();
  workers_.clear();
}

absl::StatusOr<RoundRunner::Settings> RoundRunner::MakeSettings(const Options& options, const Host& host) {
  absl::StatusOr<std::unique_ptr<TargetFinder>> finder = TargetFinder::Create(host, options.targets);
  if (!finder.ok()) return finder.status();
  return Settings{options, *std::move(finder)};
}

absl::StatusOr<std::unique_ptr<RoundRunner>> RoundRunner::Create(
    const Options& options, const Host& host, Clock& clock, Logger& log,
    std::function<void(const RoundReport&)> publish, CooperativeOffers* offers) {
  absl::StatusOr<Settings> settings = MakeSettings(options, host);
  if (!settings.ok()) return settings.status();
  std::unique_ptr<RoundRunner> runner(new RoundRunner(host, clock, log, std::move(publish), offers));
  runner->own_support_ = ProbeTrackers(host);
  for (const TrackerSupport& support : runner->own_support_) {
    log.Log(LogLevel::kInfo,
            support.supported ? "page tracker works here" : "page tracker does not work here",
            {{"tracker", std::string(TrackerKindName(support.kind))},
             {"reason", support.reason},
             {"detail", support.detail},
             {"remedy", support.remedy}});
  }
  const absl::MutexLock lock(&runner->mutex_);
  runner->settings_ = *std::move(settings);
  runner->loop_seen_ = runner->last_reload_at_ = clock.Now();
  for (int i = 0; i < runner->EffectiveWorkers(); ++i) {
    runner->workers_.emplace_back([&self = *runner](const std::stop_token& stop) { self.Work(stop); });
  }
  return runner;
}

// Sweeps spin for short windows: more of them at once than half of the processors would slow the targets.
int RoundRunner::EffectiveWorkers() const {
  const int half = static_cast<int>(std::thread::hardware_concurrency()) / 2;
  return std::max(1, std::min(settings_.options.round.workers, half));
}

absl::Status RoundRunner::Reload(const Options& options) {
  absl::StatusOr<Settings> settings = MakeSettings(options, host_);
  if (!settings.ok()) return settings.status();
  const absl::MutexLock lock(&mutex_);
  next_settings_ = std::make_unique<Settings>(*std::move(settings));
  return absl::OkStatus();
}

void RoundRunner::NoteReload(bool ok) {
  const absl::MutexLock lock(&mutex_);
  last_reload_ok_ = ok;
  if (ok) last_reload_at_ = clock_.Now();
  answers_unpublished_ = true;
}

bool RoundRunner::Alive() const {
  const absl::MutexLock lock(&mutex_);
  return clock_.Now() - loop_seen_ < 3 * settings_.options.round.interval + absl::Seconds(5);
}

std::string RoundRunner::NotReadyReason() const {
  const absl::MutexLock lock(&mutex_);
  return round_ == 0 ? "the first round has not ended yet" : watches_.NotReadyReason();
}

void RoundRunner::AdoptSettings() {
  const absl::MutexLock lock(&mutex_);
  if (next_settings_ == nullptr) return;
  settings_ = std::move(*next_settings_);
  next_settings_.reset();
}

void RoundRunner::Discover() {
  const absl::Time started = clock_.Now();
  absl::StatusOr<std::vector<FoundGroup>> found = [this] {
    // Only this thread ever calls the finder; the settings it belongs to change in this thread too.
    TargetFinder* finder = nullptr;
    {
      const absl::MutexLock lock(&mutex_);
      finder = settings_.finder.get();
    }
    return finder->Find();
  }();
  if (found.ok()) {
    for (const FoundGroup& group : *found) {
      for (const std::string& problem : group.problems) {
        log_.LogOnce(group.name, LogLevel::kWarn, "target group has a problem",
                     {{"target", group.name}, {"problem", problem}});
      }
    }
  } else {
    log_.LogOnce("discovery", LogLevel::kError, "cannot look for targets",
                 {{"error", std::string(found.status().message())}});
  }
  const absl::MutexLock lock(&mutex_);
  discovery_ = {"targets", found.ok(), absl::ToDoubleSeconds(clock_.Now() - started)};
  if (found.ok()) watches_.Adopt(*std::move(found));
}

WatchRequest RoundRunner::RequestFor(Watched* watched) {
  WatchRequest request;
  for (const TargetGroupOptions& group : settings_.options.targets) {
    if (group.name == watched->group) request.group = group;
  }
  request.interval = settings_.options.round.interval;
  const double workers = static_cast<double>(workers_.size());
  const double share = std::min(1.0, workers / std::max(1, watches_.wanted()));
  request.spread = std::max(kShortestSpread, request.interval * kSweptShare * share);
  request.seed = ++watched->seed;
  return request;
}

void RoundRunner::Work(const std::stop_token& stop) {
  const auto ready = [this] {
    mutex_.AssertHeld();
    return stopping_ || watches_.waiting();
  };
  for (;;) {
    Watched* watched = nullptr;
    WatchRequest request;
    {
      const absl::MutexLock lock(&mutex_, absl::Condition(&ready));
      if (stopping_) return;
      watched = watches_.Take(clock_.Now());
      request = RequestFor(watched);
    }
    const WatchOutcome outcome = watched->watch->Sweep(request, stop);
    LogOutcome(request.group.name, watched->watch->report(), outcome);
    const absl::MutexLock lock(&mutex_);
    watches_.Return(watched, outcome);
    answers_unpublished_ = true;
  }
}

void RoundRunner::LogOutcome(const std::string& group, const ProcessReport& report,
                             const WatchOutcome& outcome) {
  const std::string subject = absl::StrCat(group, "/", report.id.pid, "/", report.id.start_time_ticks);
  for (const TrackerSupport& support : report.support) {
    const bool used = report.tracker == TrackerKindName(support.kind);
    if (support.supported && !used) continue;
    log_.LogOnce(subject, used ? LogLevel::kInfo : LogLevel::kWarn,
                 used ? "watching with this page tracker" : "page tracker refused",
                 {{"target", group},
                  {"comm", report.comm},
                  {"pid", absl::StrCat(report.id.pid)},
                  {"tracker", std::string(TrackerKindName(support.kind))},
                  {"reason", support.reason},
                  {"detail", support.detail},
                  {"remedy", support.remedy}});
  }
  if (outcome.cross_check.missed > 0) {
    log_.Log(LogLevel::kWarn, "page tracker missed writes that hashing saw",
             {{"target", group},
              {"comm", report.comm},
              {"pid", absl::StrCat(report.id.pid)},
              {"tracker", report.tracker},
              {"missed_pages", absl::StrCat(outcome.cross_check.missed)},
              {"checked_pages", absl::StrCat(outcome.cross_check.pages())}});
  }
  if (absl::IsNotFound(outcome.problem)) {
    log_.Forget(subject);
  } else if (!outcome.problem.ok() && !absl::IsCancelled(outcome.problem)) {
    log_.LogOnce(subject, LogLevel::kWarn, "sweep failed",
                 {{"target", group},
                  {"comm", report.comm},
                  {"pid", absl::StrCat(report.id.pid)},
                  {"reason", outcome.error_reason},
                  {"error", std::string(outcome.problem.message())}});
  }
}

RoundReport RoundRunner::MakeReport() const {
  RoundReport report;
  report.number = round_;
  report.started = round_started_;
  report.finished = round_finished_;
  report.interval = settings_.options.round.interval;
  report.own_support = own_support_;
  report.last_reload_ok = last_reload_ok_;
  report.last_reload_at = last_reload_at_;
  CollectorRun pages{"pages", true, 0};
  for (const TargetGroupOptions& options : settings_.options.targets) {
    report.groups.push_back(watches_.Report(options, discovery_.success));
    pages.success = pages.success && report.groups.back().success;
    for (const ProcessReport& process : report.groups.back().processes) {
      pages.duration_seconds += process.sweep_seconds;
    }
  }
  report.collectors = {discovery_, pages};
  const absl::StatusOr<int64_t> cpu = ProcessCpuNanos(getpid());
  if (cpu.ok()) report.own_cpu_seconds = static_cast<double>(*cpu) * 1e-9;
  return report;
}

void RoundRunner::Publish() {
  RoundReport report;
  {
    const absl::MutexLock lock(&mutex_);
    answers_unpublished_ = false;
    report = MakeReport();
  }
  publish_(report);
}

void RoundRunner::LeaveOver(const std::string& limit) {
  for (const std::string& group : watches_.LeaveOver()) {
    log_.LogOnce(absl::StrCat("time_limit/", group), LogLevel::kWarn,
                 "round.time_limit leaves processes over for the next round",
                 {{"target", group},
                  {"time_limit", limit},
                  {"remedy", "raise round.interval and round.time_limit, or lower max_processes"}});
  }
}

// A process that is waiting for its sweep holds the next round back until round.time_limit; one that is being
// swept does not.
void RoundRunner::WaitForRound(absl::Time started, const std::stop_token& stop) {
  absl::Time published = clock_.Now();
  bool round_over = false;
  bool waiting = true;
  absl::Time ends = started;
  while (!stop.stop_requested() && (clock_.Now() < ends || waiting)) {
    bool publish = false;
    {
      const absl::MutexLock lock(&mutex_);
      const RoundOptions& round = settings_.options.round;
      ends = started + round.interval;
      loop_seen_ = clock_.Now();
      if (loop_seen_ >= started + round.time_limit) LeaveOver(absl::FormatDuration(round.time_limit));
      waiting = watches_.waiting();
      if (!round_over && !waiting && watches_.in_flight() == 0) {
        round_over = publish = true;
        round_finished_ = loop_seen_;
        ++round_;
      }
      publish |= answers_unpublished_ && loop_seen_ - published > kPublishPause;
    }
    if (publish) {
      Publish();
      published = clock_.Now();
    }
    clock_.WaitUntil(clock_.MonotonicNanos() + 50'000'000, false, stop);
  }
  if (round_over || stop.stop_requested()) return;
  {
    const absl::MutexLock lock(&mutex_);
    round_finished_ = clock_.Now();
    ++round_;
  }
  Publish();
}

void RoundRunner::Run(uint64_t rounds, const std::stop_token& stop) {
  Publish();
  for (uint64_t round = 0; !stop.stop_requested() && (rounds == 0 || round < rounds); ++round) {
    AdoptSettings();
    absl::Time started;
    {
      const absl::MutexLock lock(&mutex_);
      started = round_started_ = loop_seen_ = clock_.Now();
    }
    Discover();
    WaitForRound(started, stop);
  }
  {
    const absl::MutexLock lock(&mutex_);
    stopping_ = true;
  }
  for (std::jthread& worker : workers_) worker.request_stop();
}

}  // namespace mempulse
