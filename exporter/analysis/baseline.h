#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "exporter/analysis/run_profile.h"

// What is normal for one target group and build: its runs, and the fastest that any of them was. Plain
// values.
namespace mempulse {

struct Baseline {
  std::string group;
  std::string build_id;  // of the executable that the runs were taken from; empty where it has none
  RunConditions conditions;
  std::vector<RunProfile> runs;  // in the order in which they were taken
  // The upper edge of runs that were left out to keep the file small: they still say what was seen, but score
  // nothing. Its populations hold the range of those runs as low and high.
  RunProfile thinned;
  uint64_t thinned_runs = 0;

  bool operator==(const Baseline&) const = default;
};

// The upper edge of a set of runs, with the runner-up, so that each run can be held against the others.
class CurveEnvelope {
 public:
  CurveEnvelope() = default;
  // Linear in the points of the curves. The curves are not kept.
  explicit CurveEnvelope(absl::Span<const RankCurve* const> curves);

  // No run, or no run but `without`: nothing is normal then.
  static constexpr size_t kNone = static_cast<size_t>(-1);
  // The highest `high` that the k-th fastest page of any run had, leaving one run out. At least
  // `quiet_hertz`.
  double HighestAt(uint64_t rank, double quiet_hertz, size_t without = kNone) const;
  // The middle run's frequency there (all runs); 0 where most have no such page.
  double MedianAt(uint64_t rank) const;
  uint64_t pages() const { return pages_; }

 private:
  struct Edge {
    uint64_t rank = 1;
    float highest = 0;
    float second = 0;
    float median = 0;
    uint32_t holder = 0;  // index of the run with the highest
  };
  const Edge* Find(uint64_t rank) const;

  std::vector<Edge> edges_;
  uint64_t pages_ = 0;  // of the longest curve
};

// One file page over all runs.
struct IdentityEnvelope {
  uint32_t object = 0;  // index into BaselineEnvelope::objects
  uint64_t offset = 0;
  float highest = 0;
  float second = 0;
  uint32_t holder = 0;
  uint32_t runs = 0;  // in which it was written
};

struct BaselineEnvelope {
  size_t runs = 0;
  CurveEnvelope whole;
  std::array<CurveEnvelope, kAllRegionKinds.size()> kinds;
  std::vector<RunProfile::Object> objects;   // ascending by id
  std::vector<IdentityEnvelope> identities;  // ascending by object and offset
};

// Adds a run; beyond `most_runs` the oldest one goes into `thinned`. InvalidArgument when the run is not
// comparable with the baseline, which stays as it was. An empty baseline takes over the run's conditions and
// build.
absl::Status AddRun(RunProfile run, size_t most_runs, Baseline* baseline);

// The runs of both, oldest first, thinned to `most_runs`. InvalidArgument when group, build or conditions
// differ.
absl::StatusOr<Baseline> MergeBaselines(const Baseline& a, const Baseline& b, size_t most_runs);

BaselineEnvelope EnvelopeOf(const Baseline& baseline);

}  // namespace mempulse
