#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "collectors/pages/sweep_sample.h"
#include "collectors/targets/region_kind.h"
#include "exporter/analysis/page_frequency.h"
#include "exporter/analysis/rank_curve.h"

// What one sweep of one process says without its addresses: the unit that baselines are made of. Plain
// values.
namespace mempulse {

// Only runs under equal conditions are compared.
struct RunConditions {
  std::string tracker;                  // TrackerKindName
  std::vector<absl::Duration> windows;  // the ladder that was configured, longest first
  absl::Duration reference_window;  // on which the ceiling population was counted; zero: no page came so far
  uint64_t page_size_bytes = 4096;

  bool operator==(const RunConditions&) const = default;
};

// Why two runs may not be compared, naming both values; empty when they may.
std::string WhyIncomparable(const RunConditions& baseline, const RunConditions& live);

// Pages with an estimate and its interval.
struct PagePopulation {
  double pages = 0;
  double low = 0;
  double high = 0;

  bool operator==(const PagePopulation&) const = default;
};

struct RunProfile {
  RunConditions conditions;
  std::string build_id;  // of the executable; empty where it has none
  absl::Time taken_at;
  double seen_share = 1;  // chance of a page to be looked at: below 1, absence proves nothing

  RankCurve whole;
  std::array<RankCurve, kAllRegionKinds.size()> kinds;  // in the order of kAllRegionKinds
  PagePopulation ceiling;
  std::array<PagePopulation, kAllRegionKinds.size()> ceiling_by_kind;

  // Pages of files: what keeps its identity over a restart.
  struct Object {
    std::string id;    // StableIdentity::object
    std::string name;  // path, for people

    bool operator==(const Object&) const = default;
  };
  struct Identity {
    uint32_t object = 0;  // index into objects
    uint64_t offset = 0;  // bytes in the file
    float hertz = 0;
    float low = 0;
    float high = 0;

    bool operator==(const Identity&) const = default;
  };
  std::vector<Object> objects;       // ascending by id
  std::vector<Identity> identities;  // ascending by object and offset

  bool operator==(const RunProfile&) const = default;
};

// What is known of the sweep beside its answer.
struct RunFacts {
  RunConditions conditions;  // reference_window is taken from the map
  std::string build_id;
  absl::Time taken_at;
};

// Pages whose rate is only a floor below what the instrument resolves (unfit, probe_limited, target_idle, or
// at ceiling of a rung that the ladder could not leave) are in no curve: they could be anywhere above.
RunProfile MakeRunProfile(const FrequencyMap& map, const std::vector<SweepRegion>& regions, RunFacts facts);

}  // namespace mempulse
