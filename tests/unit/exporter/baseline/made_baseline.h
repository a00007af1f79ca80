#pragma once

#include <algorithm>
#include <limits>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "exporter/analysis/baseline.h"

namespace mempulse {

// A run of `pages` written pages, a third of them of two files, a few at ceiling; every run a little
// different.
inline RunProfile MadeRun(uint64_t seed, int pages) {
  std::mt19937_64 random(seed);
  std::lognormal_distribution<double> hertz(1, 2);
  RunProfile run;
  run.conditions = {
      "softdirty",
      {absl::Milliseconds(20), absl::Milliseconds(5), absl::Milliseconds(1), absl::Microseconds(250)},
      absl::Microseconds(250),
      4096};
  run.build_id = "0123456789abcdef0123456789abcdef01234567";
  run.taken_at = absl::FromUnixSeconds(1'790'000'000 + static_cast<int64_t>(seed) * 15);
  std::vector<RateClaim> whole;
  std::vector<std::vector<RateClaim>> kinds(run.kinds.size());
  run.objects = {{"build-id:aa", "/usr/lib/x86_64-linux-gnu/libc.so.6"},
                 {"build-id:bb", "/usr/bin/shop-server"}};
  for (int page = 0; page < pages; ++page) {
    const double rate = hertz(random);
    const double high = page < 17 ? std::numeric_limits<double>::infinity() : rate * 1.1;
    whole.push_back({rate, rate * 0.9, high, 1});
    kinds[static_cast<size_t>(page) % 5].push_back(whole.back());
    if (page % 3 != 0) continue;
    const auto offset = static_cast<uint64_t>(page / 2) * 4096;
    run.identities.push_back({page < pages / 2 ? 0U : 1U, offset, static_cast<float>(rate),
                              static_cast<float>(rate * 0.9), static_cast<float>(high)});
  }
  run.whole = RankCurve::FromClaims(std::move(whole));
  for (size_t kind = 0; kind < kinds.size(); ++kind)
    run.kinds[kind] = RankCurve::FromClaims(std::move(kinds[kind]));
  run.ceiling = {17, 17, 17};
  run.ceiling_by_kind[4] = {17, 16, 18};
  return run;
}

inline Baseline MadeBaseline(uint64_t runs, int pages, size_t most_runs = 50) {
  Baseline baseline;
  baseline.group = "shop";
  for (uint64_t seed = 1; seed <= runs; ++seed) {
    if (!AddRun(MadeRun(seed, pages), most_runs, &baseline).ok()) std::abort();
  }
  return baseline;
}

}  // namespace mempulse
