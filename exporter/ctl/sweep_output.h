#pragma once

#include <string>

#include "collectors/pages/sweep_sample.h"
#include "collectors/targets/process_facts.h"
#include "exporter/analysis/page_frequency.h"

namespace mempulse {

// One sweep, ready to be shown: what was watched, what was seen, what it means.
struct SweepFindings {
  pid_t pid = 0;
  uint64_t start_time_ticks = 0;
  std::string comm;
  std::string exe;
  SweepSample sample;
  FrequencyMap map;
};

// A table a person can read; runs of like pages are one row, fastest first, at most `most_rows` of them.
// Plain text.
std::string SweepTable(const SweepFindings& findings, size_t most_rows);

// {"target":{..},"tracker":..,"ceiling_hertz":..,"pages":[{"address","frequency_hertz","low_hertz","high_hertz","state",
// "region_kind","region","rungs":[{"window_seconds","looks","hits"}]}],...}; what is not finite is null.
// "cross_check" (pages by result) only where it was done.
std::string SweepJson(const SweepFindings& findings);

// One line a page under a heading; fields quoted as RFC 4180 has it.
std::string SweepCsv(const SweepFindings& findings);

}  // namespace mempulse
