#include "exporter/ctl/compare_command.h"

#include <cstdio>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "exporter/baseline/baseline_codec.h"
#include "exporter/ctl/comparison_output.h"
#include "exporter/ctl/interrupt_watch.h"
#include "exporter/ctl/text_table.h"
#include "exporter/files/whole_file.h"

namespace mempulse {
namespace {

constexpr uint32_t kWanted = 2;  // of the last kWindow sweeps
constexpr uint32_t kWindow = 3;
constexpr size_t kMostRuns = 50;

int CannotTell(const CompareCommand& command, absl::string_view reason) {
  CompareAnswer answer;
  answer.subject = absl::StrCat("pid ", command.run.pid);
  answer.reason = std::string(reason);
  std::fputs((command.json ? CompareJson(answer) : CompareTable(answer)).c_str(), stdout);
  return 2;
}

absl::StatusOr<Baseline> ReadBaselineFile(const std::string& file) {
  const absl::StatusOr<std::string> bytes = ReadWholeFile(file, kLargestBaselineFile);
  if (!bytes.ok()) return bytes.status();
  absl::StatusOr<Baseline> baseline = DecodeBaseline(*bytes);
  if (baseline.ok()) return baseline;
  return absl::Status(baseline.status().code(), absl::StrCat(file, ": ", baseline.status().message()));
}

// The ladder that the baseline was taken with. Its finer part is told from the coarser one by the fixed
// default.
SweepOptions SweepLike(const Baseline& baseline) {
  SweepOptions options;
  const size_t fine = options.fine_windows.size();
  const std::vector<absl::Duration>& windows = baseline.conditions.windows;
  if (windows.size() <= fine) return options;
  options.windows.assign(windows.begin(), windows.end() - static_cast<std::ptrdiff_t>(fine));
  options.fine_windows.assign(windows.end() - static_cast<std::ptrdiff_t>(fine), windows.end());
  return options;
}

TrackerChoice TrackerOf(const Baseline& baseline) {
  for (const TrackerChoice choice :
       {TrackerChoice::kWriteProtect, TrackerChoice::kSoftDirty, TrackerChoice::kHashDiff}) {
    const TrackerKind kind = choice == TrackerChoice::kWriteProtect ? TrackerKind::kWriteProtect
                             : choice == TrackerChoice::kSoftDirty  ? TrackerKind::kSoftDirty
                                                                    : TrackerKind::kHashDiff;
    if (baseline.conditions.tracker == std::string(TrackerKindName(kind))) return choice;
  }
  return TrackerChoice::kAuto;
}

// Sweeps, compares and remembers; the last comparison stays in the answer.
void CompareSweeps(const CompareCommand& command, const Baseline& baseline, LiveTarget* target,
                   CompareAnswer* answer) {
  const BaselineEnvelope envelope = EnvelopeOf(baseline);
  const ReferenceScores reference = ReferenceScores::Of(baseline, envelope, {});
  answer->runs = reference.runs();
  answer->least_p_value = reference.least_p_value();
  Persistence persistence(kWanted, kWindow);
  const InterruptWatch interrupt;
  const auto seed = static_cast<uint64_t>(absl::ToUnixNanos(absl::Now()));
  absl::Time due = absl::Now();
  for (int sweep = 0; sweep < command.sweeps; ++sweep, due += command.run.interval) {
    if (!WaitForRun(due, interrupt.token())) break;
    const absl::StatusOr<RunProfile> run = TakeRun(
        command.run, SweepLike(baseline), seed + static_cast<uint64_t>(sweep), interrupt.token(), target);
    if (!run.ok()) {
      answer->reason = std::string(run.status().message());
      break;
    }
    ++answer->sweeps;
    answer->last = CompareToBaseline(*run, baseline, envelope);
    answer->scores = reference.Score(answer->last);
    if (!answer->last.incomparable.empty()) break;
    persistence.Add(SuspicionsOf(answer->last, answer->scores, answer->runs), run->taken_at);
  }
  if (answer->sweeps < command.sweeps && answer->reason.empty()) answer->reason = "it was interrupted";
  if (!answer->last.incomparable.empty()) answer->reason = answer->last.incomparable;
  answer->findings = persistence.Current();
}

int Fail(absl::string_view text) {
  std::fprintf(stderr, "mempulsectl: %s\n", std::string(text).c_str());
  return 1;
}

}  // namespace

int RunCompareCommand(const CompareCommand& command) {
  const absl::StatusOr<Baseline> baseline = ReadBaselineFile(command.file);
  if (!baseline.ok()) return CannotTell(command, baseline.status().message());
  const Host host(command.run.procfs);
  std::vector<TrackerSupport> support;
  const TrackerChoice tracker =
      command.run.tracker == TrackerChoice::kAuto ? TrackerOf(*baseline) : command.run.tracker;
  const absl::StatusOr<std::unique_ptr<LiveTarget>> target =
      LiveTarget::Open(host, command.run.pid, tracker, command.run.attach, &support);
  if (!target.ok()) {
    PrintRefusals(support);
    return CannotTell(command, target.status().message());
  }
  const std::string build = (*target)->BuildId();
  if (build != baseline->build_id) {
    return CannotTell(
        command, absl::StrCat("the baseline is of build ",
                              baseline->build_id.empty() ? "none" : baseline->build_id, ", the process of ",
                              build.empty() ? "none" : build, "; record a baseline of this build"));
  }
  CompareAnswer answer;
  answer.subject = absl::StrCat(PrintableText((*target)->facts().comm, 64), " (pid ", command.run.pid, ")");
  CompareSweeps(command, *baseline, target->get(), &answer);
  Judge(*baseline, &answer);
  std::fputs((command.json ? CompareJson(answer) : CompareTable(answer)).c_str(), stdout);
  if (answer.verdict == CompareVerdict::kCannotTell) return 2;
  return answer.verdict == CompareVerdict::kFindings ? 1 : 0;
}

int RunBaselineShow(const std::string& file, bool json) {
  const absl::StatusOr<Baseline> baseline = ReadBaselineFile(file);
  if (!baseline.ok()) return Fail(baseline.status().message());
  std::fputs((json ? BaselineJson(*baseline) : BaselineTable(*baseline)).c_str(), stdout);
  return 0;
}

int RunBaselineMerge(const std::vector<std::string>& files, const std::string& output) {
  absl::StatusOr<Baseline> merged = ReadBaselineFile(files.front());
  if (!merged.ok()) return Fail(merged.status().message());
  for (size_t i = 1; i < files.size(); ++i) {
    const absl::StatusOr<Baseline> next = ReadBaselineFile(files[i]);
    if (!next.ok()) return Fail(next.status().message());
    absl::StatusOr<Baseline> both = MergeBaselines(*merged, *next, kMostRuns);
    if (!both.ok()) return Fail(absl::StrCat(files[i], ": ", both.status().message()));
    merged = std::move(both);
  }
  const absl::Status saved = SaveWholeFile(SystemFileCalls(), output, EncodeBaseline(*merged));
  if (!saved.ok()) return Fail(saved.message());
  std::printf("%s: %zu runs, %llu more as their upper edge\n", output.c_str(), merged->runs.size(),
              static_cast<unsigned long long>(merged->thinned_runs));
  return 0;
}

}  // namespace mempulse
