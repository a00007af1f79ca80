#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "exporter/analysis/compare_to_baseline.h"
#include "exporter/analysis/scores.h"

// What is strange in one sweep is a suspicion; what is strange in K of the last N sweeps is a finding. Pure.
namespace mempulse {

// Something strange in one sweep, under a key that is the same in the next one.
struct Suspicion {
  Signal signal = Signal::kNovel;
  std::string key;    // "novel/OBJECT+0xOFFSET", "curve_spike/heap", ...
  std::string where;  // for people: the object and offset, or the kind of memory and the rank
  double hertz = 0;   // how fast; pages for ceiling_population, the factor for curve_shift
  double normal = 0;  // against what: the highest of the baseline, same unit
  double p_value = 1;
  size_t runs = 0;  // behind the p-value
};

struct SuspicionOptions {
  double spike_factor = 1.5;   // times the highest of any run
  double shift_factor = 1.5;   // busier than the middle run by this
  double beyond_normal = 1.1;  // times what the baseline's own runs differ among each other
  size_t most = 64;            // of one kind in one sweep
};

// What of a comparison is strange enough to be remembered.
std::vector<Suspicion> SuspicionsOf(const Comparison& comparison,
                                    const std::array<SignalScore, kSignalCount>& scores, size_t runs,
                                    const SuspicionOptions& options = {});

struct Finding {
  Suspicion suspicion;  // as last seen
  absl::Time since;     // when it was first seen
  absl::Time confirmed_at;
  uint32_t sweeps = 0;  // in which it was seen
};

// Remembers suspicions over sweeps. Not thread-safe.
class Persistence {
 public:
  // A finding needs `wanted` of the last `window` sweeps; window at most 64.
  Persistence(uint32_t wanted, uint32_t window) : wanted_(wanted), window_(window) {}

  // One more sweep with an answer. Returns the findings that this sweep confirmed for the first time.
  std::vector<Finding> Add(const std::vector<Suspicion>& suspicions, absl::Time at);

  // Confirmed and seen in at least one of the last `window` sweeps; in the order of their keys.
  std::vector<Finding> Current() const;
  void Clear() { known_.clear(); }

 private:
  struct Known {
    Finding finding;
    uint64_t seen = 0;  // bit i: i sweeps ago
    bool confirmed = false;
  };

  uint32_t wanted_;
  uint32_t window_;
  std::map<std::string, Known> known_;
};

}  // namespace mempulse
