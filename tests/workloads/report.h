#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"

namespace mempulse {

// What a population did, as measured by the program that did it: the truth a measurement is compared with.
struct PopulationReport {
  std::string name;
  double nominal_hertz = 0;  // infinite: flat out
  uint64_t address = 0;      // of its first page
  uint64_t pages = 0;
  uint64_t writes = 0;     // to each page since the start
  int64_t missed = 0;      // periods given up because the program was late
  double hertz_last = 0;   // over the time since the previous report
  double hertz_total = 0;  // over the time since the start
};

struct WorkloadReport {
  pid_t pid = 0;
  int64_t monotonic_nanos = 0;  // CLOCK_MONOTONIC when the counts were read
  double seconds = 0;           // since the start
  bool restores = false;
  std::vector<PopulationReport> tiers;
};

// One JSON object, numbers in full; a flat-out nominal_hertz is null.
std::string ReportJson(const WorkloadReport& report);

// A table for people.
std::string ReportTable(const WorkloadReport& report);

// Replaces `path` with `text` through a temporary file beside it, so that a reader never sees half of it.
absl::Status ReplaceFile(const std::string& path, const std::string& text);

}  // namespace mempulse
