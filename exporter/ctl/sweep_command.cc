#include "exporter/ctl/sweep_command.h"

#include <unistd.h>

#include <cstdio>
#include <memory>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "collectors/host/host.h"
#include "collectors/pages/range_set.h"
#include "collectors/pages/sweep.h"
#include "exporter/analysis/invert_windows.h"
#include "exporter/ctl/capture_file.h"
#include "exporter/ctl/interrupt_watch.h"
#include "exporter/ctl/live_target.h"
#include "exporter/ctl/sweep_output.h"

namespace mempulse {
namespace {

// A person who asked for a sweep waits for it: a quarter of a CPU in any 100 ms is fine.
constexpr double kBurstLimit = 0.25;

int Fail(absl::string_view text) {
  std::fprintf(stderr, "mempulsectl: %s\n", std::string(text).c_str());
  return 1;
}

absl::StatusOr<SweepRequest> RequestOf(const SweepCommand& command) {
  SweepRequest request;
  request.spread = command.duration;
  request.options.target_time_limit = command.duration;
  request.options.budget = command.budget;
  request.options.burst_limit = std::max(kBurstLimit, command.budget);
  request.options.include_shared = command.include_shared;
  request.options.include_huge = command.include_huge;
  request.target_seconds = command.budget * absl::ToDoubleSeconds(command.duration);
  request.own_seconds = absl::ToDoubleSeconds(command.duration) / 2;
  request.own_burst = 1;
  request.seed = static_cast<uint64_t>(absl::ToUnixNanos(absl::Now()));
  request.record_hits = !command.capture_file.empty();
  request.open_gap = false;
  if (!command.page.empty()) {
    uint64_t address = 0;
    if (!absl::SimpleHexAtoi(command.page, &address)) {
      return absl::InvalidArgumentError(
          absl::StrCat("--page ", command.page, " is no hexadecimal address, e.g. 0x7f1c2a004000"));
    }
    address -= address % kPageSize;
    request.only = {{address, address + kPageSize}};
    request.options.fine_windows.push_back(absl::Microseconds(10));
    request.options.fine_windows.push_back(absl::Microseconds(5));
  }
  return request;
}

void Print(const SweepFindings& findings, OutputFormat format, size_t top) {
  const std::string text = format == OutputFormat::kJson  ? SweepJson(findings)
                           : format == OutputFormat::kCsv ? SweepCsv(findings)
                                                          : SweepTable(findings, top);
  std::fwrite(text.data(), 1, text.size(), stdout);
}

absl::Status SweepInto(const SweepCommand& command, LiveTarget* target, SweepFindings* findings) {
  absl::StatusOr<SweepRequest> request = RequestOf(command);
  if (!request.ok()) return request.status();
  const InterruptWatch interrupt;
  if (isatty(STDERR_FILENO) != 0) {
    std::fprintf(stderr, "sweeping pid %d for %s with %s ...\n", command.pid,
                 absl::FormatDuration(command.duration).c_str(),
                 std::string(TrackerKindName(target->tracker())).c_str());
  }
  absl::StatusOr<Sweep::Result> result = target->Run(*request, interrupt.token());
  if (!result.ok()) return result.status();
  if (!result->end.ok() && !absl::IsCancelled(result->end)) {
    std::fprintf(stderr, "mempulsectl: the sweep ended early: %s\n",
                 std::string(result->end.message()).c_str());
  }
  findings->sample = std::move(result->sample);
  return absl::OkStatus();
}

absl::Status SaveCapture(const SweepCommand& command, const Host& host, const SweepFindings& findings) {
  CaptureInfo info;
  info.exporter_version = command.version;
  info.comm = findings.comm;
  info.taken_at = absl::Now();
  if (absl::StatusOr<std::string> release = host.ReadFile(host.procfs() + "/sys/kernel/osrelease");
      release.ok()) {
    info.kernel = std::string(absl::StripAsciiWhitespace(*release));
  }
  return WriteCaptureFile(command.capture_file, findings.sample, info);
}

}  // namespace

int RunSweepCommand(const SweepCommand& command) {
  const Host host(command.procfs);
  std::vector<TrackerSupport> support;
  const bool attach = command.attach || command.tracker == TrackerChoice::kWriteProtect;
  const absl::StatusOr<std::unique_ptr<LiveTarget>> target =
      LiveTarget::Open(host, command.pid, command.tracker, attach, &support);
  if (!target.ok() || command.format == OutputFormat::kTable) PrintRefusals(support);
  if (!target.ok()) return Fail(target.status().message());
  SweepFindings findings;
  const ProcessFacts& facts = (*target)->facts();
  findings.pid = facts.id.pid;
  findings.start_time_ticks = facts.id.start_time_ticks;
  findings.comm = facts.comm;
  findings.exe = facts.exe;
  if (absl::Status swept = SweepInto(command, target->get(), &findings); !swept.ok())
    return Fail(swept.message());
  findings.map = InvertWindows(findings.sample);
  if (!command.capture_file.empty()) {
    if (absl::Status saved = SaveCapture(command, host, findings); !saved.ok()) return Fail(saved.message());
  }
  Print(findings, command.format, command.top);
  const SweepOutcome outcome = findings.sample.outcome;
  return outcome == SweepOutcome::kFailed || outcome == SweepOutcome::kForeignTracker ? 1 : 0;
}

int RunAnalyzeCommand(const std::string& file, OutputFormat format, size_t top) {
  absl::StatusOr<Capture> capture = ReadCaptureFile(file);
  if (!capture.ok()) return Fail(capture.status().message());
  SweepFindings findings;
  findings.comm = capture->info.comm;
  findings.sample = std::move(capture->sample);
  findings.map = InvertWindows(findings.sample);
  Print(findings, format, top);
  return 0;
}

}  // namespace mempulse
