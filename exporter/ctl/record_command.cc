#include "exporter/ctl/record_command.h"

#include <cstdio>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "exporter/analysis/invert_windows.h"
#include "exporter/baseline/baseline_codec.h"
#include "exporter/ctl/interrupt_watch.h"
#include "exporter/ctl/text_table.h"
#include "exporter/files/whole_file.h"

namespace mempulse {
namespace {

constexpr double kSweptShare = 0.45;
constexpr size_t kMostRuns = 50;
constexpr size_t kLongestGroup = 64;

int Fail(absl::string_view text) {
  std::fprintf(stderr, "mempulsectl: %s\n", std::string(text).c_str());
  return 1;
}

// A file that is there is added to when that was asked for, and never overwritten.
absl::StatusOr<Baseline> Begin(const RecordCommand& command, const std::string& comm) {
  Baseline baseline;
  baseline.group = command.group.empty() ? PrintableText(comm, kLongestGroup) : command.group;
  const absl::StatusOr<std::string> bytes = ReadWholeFile(command.file, kLargestBaselineFile);
  if (absl::IsNotFound(bytes.status())) return baseline;
  if (!bytes.ok()) return bytes.status();
  if (!command.append) {
    return absl::AlreadyExistsError(absl::StrCat(command.file, " exists; --append adds runs to it"));
  }
  absl::StatusOr<Baseline> read = DecodeBaseline(*bytes);
  if (!read.ok()) {
    return absl::Status(read.status().code(), absl::StrCat(command.file, ": ", read.status().message()));
  }
  return read;
}

}  // namespace

bool WaitForRun(absl::Time due, const std::stop_token& stop) {
  SystemClock clock;
  const absl::Duration wait = due - absl::Now();
  return clock.WaitUntil(clock.MonotonicNanos() + absl::ToInt64Nanoseconds(wait), false, stop);
}

absl::StatusOr<RunProfile> TakeRun(const RunCommand& command, const SweepOptions& sweep, uint64_t seed,
                                   const std::stop_token& stop, LiveTarget* target) {
  SweepRequest request;
  request.options = sweep;
  request.options.budget = command.budget;
  request.spread = command.interval * kSweptShare;
  request.options.target_time_limit = std::max(request.options.target_time_limit, request.spread);
  request.target_seconds = command.budget * absl::ToDoubleSeconds(command.interval);
  request.own_seconds = request.target_seconds;
  request.own_burst = request.options.burst_limit;
  request.seed = seed;
  const absl::StatusOr<Sweep::Result> result = target->Run(request, stop);
  if (!result.ok()) return result.status();
  if (!result->end.ok()) return result->end;
  RunFacts facts;
  facts.conditions.tracker = std::string(TrackerKindName(target->tracker()));
  facts.conditions.windows = request.options.windows;
  facts.conditions.windows.insert(facts.conditions.windows.end(), request.options.fine_windows.begin(),
                                  request.options.fine_windows.end());
  facts.build_id = target->BuildId();
  facts.taken_at = absl::Now();
  return MakeRunProfile(InvertWindows(result->sample), result->sample.regions, std::move(facts));
}

int RunRecordCommand(const RecordCommand& command) {
  const Host host(command.run.procfs);
  std::vector<TrackerSupport> support;
  const absl::StatusOr<std::unique_ptr<LiveTarget>> target =
      LiveTarget::Open(host, command.run.pid, command.run.tracker, command.run.attach, &support);
  if (!target.ok()) {
    PrintRefusals(support);
    return Fail(target.status().message());
  }
  absl::StatusOr<Baseline> baseline = Begin(command, (*target)->facts().comm);
  if (!baseline.ok()) return Fail(baseline.status().message());
  const InterruptWatch interrupt;
  const auto seed = static_cast<uint64_t>(absl::ToUnixNanos(absl::Now()));
  int recorded = 0;
  for (absl::Time due = absl::Now(); recorded < command.runs; due += command.run.interval) {
    if (!WaitForRun(due, interrupt.token())) break;
    absl::StatusOr<RunProfile> run =
        TakeRun(command.run, SweepOptions{}, seed + static_cast<uint64_t>(recorded), interrupt.token(),
                target->get());
    const absl::Status added = run.ok() ? AddRun(*std::move(run), kMostRuns, &*baseline) : run.status();
    if (absl::IsCancelled(added)) break;
    if (!added.ok()) {
      std::fprintf(stderr, "mempulsectl: run %d was not taken: %s\n", recorded + 1,
                   std::string(added.message()).c_str());
      if (recorded == 0 || absl::IsNotFound(added)) break;
      continue;
    }
    ++recorded;
    std::fprintf(stderr, "run %d of %d: %d pages in the curve, %d of files\n", recorded, command.runs,
                 static_cast<int>(baseline->runs.back().whole.pages()),
                 static_cast<int>(baseline->runs.back().identities.size()));
  }
  if (recorded == 0) return Fail("nothing was recorded");
  const absl::Status saved = SaveWholeFile(SystemFileCalls(), command.file, EncodeBaseline(*baseline));
  if (!saved.ok()) return Fail(saved.message());
  std::printf("%s: %zu runs of group %s, tracker %s\n", command.file.c_str(), baseline->runs.size(),
              baseline->group.c_str(), baseline->conditions.tracker.c_str());
  return 0;
}

}  // namespace mempulse
