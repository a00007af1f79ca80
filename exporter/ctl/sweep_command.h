#pragma once

#include <string>
#include <vector>

#include "absl/time/time.h"
#include "config/options.h"

namespace mempulse {

enum class OutputFormat { kTable, kJson, kCsv };

// What `mempulsectl sweep` was asked.
struct SweepCommand {
  int pid = 0;
  absl::Duration duration = absl::Seconds(8);
  TrackerChoice tracker = TrackerChoice::kAuto;
  bool attach = false;  // kWriteProtect by name implies it
  double budget = 0.2;  // of one CPU of the target's time, while the sweep runs
  bool include_shared = false;
  bool include_huge = false;
  std::string page;          // single-page mode: only the page of this address, down to 5 us
  std::string capture_file;  // raw looks go here as well
  size_t top = 40;
  OutputFormat format = OutputFormat::kTable;
  std::string procfs = "/proc";
  std::string version;  // of the program, for the capture
};

// Sweeps and prints. SIGINT and SIGTERM end the sweep early and what was seen is printed. Exit status: 0
// done, 1 failed.
int RunSweepCommand(const SweepCommand& command);

// Analyses a capture again and prints it.
int RunAnalyzeCommand(const std::string& file, OutputFormat format, size_t top);

}  // namespace mempulse
