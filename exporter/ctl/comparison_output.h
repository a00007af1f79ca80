#pragma once

#include <array>
#include <string>
#include <vector>

#include "exporter/analysis/baseline.h"
#include "exporter/analysis/persistence.h"
#include "exporter/analysis/scores.h"

// What `compare` and `baseline show` print: from values to text, no system call.
namespace mempulse {

enum class CompareVerdict { kClean, kFindings, kCannotTell };

struct CompareAnswer {
  std::string subject;  // "shop-server (pid 42)"
  CompareVerdict verdict = CompareVerdict::kCannotTell;
  std::string reason;  // why it cannot be told
  int sweeps = 0;
  size_t runs = 0;
  double least_p_value = 1;
  Comparison last;  // of the last sweep
  std::array<SignalScore, kSignalCount> scores;
  std::vector<Finding> findings;
};

// Clean: every sweep was compared and nothing persisted. A sweep that saw a smaller share of the pages than
// the baseline's runs did, or a baseline of fewer than `fewest_runs`, cannot say clean; it can say findings.
inline constexpr size_t kFewestRuns = 5;
void Judge(const Baseline& baseline, CompareAnswer* answer);

std::string CompareTable(const CompareAnswer& answer);
std::string CompareJson(const CompareAnswer& answer);

std::string BaselineTable(const Baseline& baseline);
std::string BaselineJson(const Baseline& baseline);

}  // namespace mempulse
