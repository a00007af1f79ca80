#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <utility>
#include <vector>

#include "exporter/analysis/baseline.h"

namespace mempulse {

// Runs made by hand: every page measured within +-2 %.
inline RunProfile RunOf(const std::vector<std::pair<double, int>>& hertz_and_pages, double spread = 0,
                        uint64_t seed = 1) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> factor(1 - spread, 1 + spread);
  RunProfile run;
  run.conditions.tracker = "writeprotect";
  run.conditions.windows = {absl::Milliseconds(20), absl::Milliseconds(5)};
  run.conditions.reference_window = absl::Milliseconds(5);
  std::vector<RateClaim> claims;
  for (const auto& [hertz, pages] : hertz_and_pages) {
    for (int i = 0; i < pages; ++i) {
      const double own = hertz * factor(random);
      claims.push_back({own, own * 0.98, own * 1.02, 1});
    }
  }
  run.whole = RankCurve::FromClaims(claims);
  run.kinds[4] = run.whole;  // anon
  return run;
}

inline Baseline BaselineOf(std::vector<RunProfile> runs) {
  Baseline baseline;
  baseline.group = "shop";
  if (!runs.empty()) baseline.conditions = runs[0].conditions;
  baseline.runs = std::move(runs);
  return baseline;
}

}  // namespace mempulse
