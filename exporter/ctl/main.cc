// mempulsectl: the operator's hand tool on the same library as the exporter.
#include <unistd.h>

#include <cstdio>
#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "config/load_options.h"
#include "config/option_warnings.h"
#include "exporter/build_info.h"
#include "exporter/ctl/compare_command.h"
#include "exporter/ctl/doctor_facts.h"
#include "exporter/ctl/doctor_report.h"
#include "exporter/ctl/record_command.h"
#include "exporter/ctl/sweep_command.h"
#include "exporter/ctl/targets_command.h"

namespace mempulse {
namespace {

struct SweepWords {
  SweepCommand command;
  std::string duration = "8s";
  std::string budget = "20%";
  std::string tracker = "auto";
  bool json = false;
  bool csv = false;
};

OutputFormat FormatOf(bool json, bool csv) {
  if (json) return OutputFormat::kJson;
  return csv ? OutputFormat::kCsv : OutputFormat::kTable;
}

int UsageError(const std::string& text) {
  std::fprintf(stderr, "mempulsectl: %s\n", text.c_str());
  return 2;
}

TrackerChoice TrackerOf(const std::string& word) {
  if (word == "writeprotect") return TrackerChoice::kWriteProtect;
  if (word == "softdirty") return TrackerChoice::kSoftDirty;
  return word == "hashdiff" ? TrackerChoice::kHashDiff : TrackerChoice::kAuto;
}

void AddFormats(CLI::App* command, bool* json, bool* csv) {
  CLI::Option* const as_json = command->add_flag("--json", *json, "print JSON");
  command->add_flag("--csv", *csv, "print CSV, one line a page")->excludes(as_json);
}

void AddSweep(CLI::App* app, SweepWords* words, int* status) {
  CLI::App* const command =
      app->add_subcommand("sweep", "measure how often each page of a process is written, and print it");
  command->add_option("PID", words->command.pid, "process to sweep")->required()->check(CLI::PositiveNumber);
  command->add_option("-d,--duration", words->duration, "how long to look, e.g. 8s")->capture_default_str();
  command
      ->add_option("--tracker", words->tracker,
                   "auto, writeprotect (stops one thread for some tens of us), "
                   "softdirty or hashdiff")
      ->check(CLI::IsMember({"auto", "writeprotect", "softdirty", "hashdiff"}))
      ->capture_default_str();
  command->add_flag("--attach", words->command.attach, "let auto inject a userfaultfd (writeprotect)");
  command->add_option("--budget", words->budget, "share of one CPU that faults of our making may take")
      ->capture_default_str();
  command->add_flag("--include-shared", words->command.include_shared, "shared mappings too");
  command->add_flag("--include-huge", words->command.include_huge,
                    "transparent huge pages too (splits them)");
  command->add_option("--page", words->command.page,
                      "only the page of this address (hexadecimal), windows to 5 us");
  command->add_option("--capture", words->command.capture_file, "save the raw looks for `analyze`");
  command->add_option("--top", words->command.top, "rows of the table")->capture_default_str();
  AddFormats(command, &words->json, &words->csv);
  command->callback([words, status] {
    const auto duration = ParseDurationText(words->duration);
    const auto budget = ParseRatioText(words->budget);
    if (!duration.ok() || *duration < absl::Milliseconds(100)) {
      *status = UsageError("--duration wants a time of at least 100ms with its unit, e.g. 8s");
    } else if (!budget.ok() || *budget <= 0 || *budget > 1) {
      *status = UsageError("--budget wants a share such as 20% or 0.2");
    } else {
      words->command.duration = *duration;
      words->command.budget = *budget;
      words->command.tracker = TrackerOf(words->tracker);
      words->command.version = kVersion;
      words->command.format = FormatOf(words->json, words->csv);
      *status = RunSweepCommand(words->command);
    }
  });
}

struct AnalyzeWords {
  std::string file;
  size_t top = 40;
  bool json = false;
  bool csv = false;
};

void AddAnalyze(CLI::App* app, AnalyzeWords* words, int* status) {
  CLI::App* const command = app->add_subcommand("analyze", "analyse a capture of `sweep --capture` again");
  command->add_option("FILE", words->file, "capture file")->required();
  command->add_option("--top", words->top, "rows of the table")->capture_default_str();
  AddFormats(command, &words->json, &words->csv);
  command->callback([words, status] {
    *status = RunAnalyzeCommand(words->file, FormatOf(words->json, words->csv), words->top);
  });
}

struct RunWords {
  RunCommand run;
  std::string interval = "15s";
  std::string budget = "1%";
  std::string tracker = "auto";
};

// The options that `record` and `compare` share.
void AddRun(CLI::App* command, RunWords* words) {
  command->add_option("PID", words->run.pid, "process to sweep")->required()->check(CLI::PositiveNumber);
  command->add_option("--interval", words->interval, "time from one sweep to the next")
      ->capture_default_str();
  command->add_option("--tracker", words->tracker, "auto, writeprotect, softdirty or hashdiff")
      ->check(CLI::IsMember({"auto", "writeprotect", "softdirty", "hashdiff"}))
      ->capture_default_str();
  command->add_flag("--attach", words->run.attach, "allow a userfaultfd in the process (writeprotect)");
  command->add_option("--budget", words->budget, "share of one CPU that faults of our making may take")
      ->capture_default_str();
}

// 0, or the status of a usage error.
int FinishRun(RunWords* words) {
  const auto interval = ParseDurationText(words->interval);
  const auto budget = ParseRatioText(words->budget);
  if (!interval.ok() || *interval < absl::Seconds(1)) {
    return UsageError("--interval wants a time of at least 1s with its unit, e.g. 15s");
  }
  if (!budget.ok() || *budget <= 0 || *budget > 1)
    return UsageError("--budget wants a share such as 1% or 0.01");
  words->run.interval = *interval;
  words->run.budget = *budget;
  words->run.tracker = TrackerOf(words->tracker);
  words->run.attach |= words->run.tracker == TrackerChoice::kWriteProtect;
  return 0;
}

struct BaselineWords {
  RunWords record;
  RecordCommand recording;
  RunWords compare;
  CompareCommand comparing;
  std::string show_file;
  bool show_json = false;
  std::vector<std::string> merge_files;
  std::string merge_output;
};

void AddBaselines(CLI::App* app, BaselineWords* words, int* status) {
  CLI::App* const record = app->add_subcommand("record", "record sweeps of a process into a baseline file");
  AddRun(record, &words->record);
  record->add_option("-o,--output", words->recording.file, "baseline file")->required();
  record->add_option("--runs", words->recording.runs, "sweeps to record")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  record->add_option("--group", words->recording.group,
                     "name of the group; the process' name when not given");
  record->add_flag("--append", words->recording.append, "add to a file that is there");
  record->callback([words, status] {
    *status = FinishRun(&words->record);
    words->recording.run = words->record.run;
    if (*status == 0) *status = RunRecordCommand(words->recording);
  });

  CLI::App* const compare = app->add_subcommand(
      "compare", "hold a process against a baseline file; exit status 0 clean, 1 findings, 2 cannot tell");
  AddRun(compare, &words->compare);
  compare->add_option("FILE", words->comparing.file, "baseline file")->required();
  compare->add_option("--sweeps", words->comparing.sweeps, "sweeps to compare")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  compare->add_flag("--json", words->comparing.json, "print JSON");
  compare->callback([words, status] {
    *status = FinishRun(&words->compare);
    words->comparing.run = words->compare.run;
    words->comparing.run.attach |= words->compare.run.attach;
    if (*status == 0) *status = RunCompareCommand(words->comparing);
  });

  CLI::App* const baseline = app->add_subcommand("baseline", "look at and merge baseline files");
  baseline->require_subcommand(1);
  CLI::App* const show = baseline->add_subcommand("show", "print a baseline file");
  show->add_option("FILE", words->show_file, "baseline file")->required();
  show->add_flag("--json", words->show_json, "print JSON");
  show->callback([words, status] { *status = RunBaselineShow(words->show_file, words->show_json); });
  CLI::App* const merge =
      baseline->add_subcommand("merge", "make one baseline of several of one group and build");
  merge->add_option("FILES", words->merge_files, "baseline files")->required();
  merge->add_option("-o,--output", words->merge_output, "the file to write")->required();
  merge->callback([words, status] { *status = RunBaselineMerge(words->merge_files, words->merge_output); });
}

struct OtherWords {
  int doctor_pid = 0;
  bool doctor_json = false;
  std::string config_file;
  std::string url = "http://127.0.0.1:9834";
  bool targets_json = false;
};

int RunCheckConfig(const std::string& file) {
  const absl::StatusOr<Options> options = LoadOptions(file);
  if (!options.ok()) {
    std::fprintf(stderr, "%s\n", std::string(options.status().message()).c_str());
    return 1;
  }
  for (const std::string& warning : OptionWarnings(*options)) std::fprintf(stderr, "%s\n", warning.c_str());
  std::printf("%s is valid: %zu target group(s)\n", file.c_str(), options->targets.size());
  return 0;
}

void AddOthers(CLI::App* app, OtherWords* words, int* status) {
  CLI::App* const doctor = app->add_subcommand(
      "doctor", "say of each mechanism and permission whether it works, and what to do when it does not");
  doctor->add_option("PID", words->doctor_pid, "process to watch; without it: this machine and user only");
  doctor->add_flag("--json", words->doctor_json, "print JSON");
  doctor->callback([words, status] { *status = RunDoctor(words->doctor_pid, words->doctor_json); });

  CLI::App* const check =
      app->add_subcommand("check-config", "check a configuration file and name every error");
  check->add_option("FILE", words->config_file, "configuration")->required();
  check->callback([words, status] { *status = RunCheckConfig(words->config_file); });

  CLI::App* const targets = app->add_subcommand("targets", "what a running exporter found in its last round");
  targets->add_option("--url", words->url, "where the exporter listens")->capture_default_str();
  targets->add_flag("--json", words->targets_json, "print its JSON as it is");
  targets->callback([words, status] { *status = RunTargetsCommand(words->url, words->targets_json); });
}

int Main(int argc, char** argv) {
  int status = 0;
  CLI::App app{
      "mempulsectl measures how fast the memory of a process changes.\nExit status: 0 done, 1 failed, 2 "
      "usage; `compare` has its own."};
  app.set_version_flag("--version", VersionText("mempulsectl"));
  app.require_subcommand(1);
  SweepWords sweep;
  AnalyzeWords analyze;
  BaselineWords baselines;
  OtherWords others;
  AddSweep(&app, &sweep, &status);
  AddAnalyze(&app, &analyze, &status);
  AddBaselines(&app, &baselines, &status);
  AddOthers(&app, &others, &status);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  return status;
}

}  // namespace
}  // namespace mempulse

int main(int argc, char** argv) { return mempulse::Main(argc, argv); }
