#pragma once

#include "absl/types/span.h"
#include "collectors/pages/sweep_sample.h"
#include "exporter/analysis/page_frequency.h"

namespace mempulse {

struct InvertOptions {
  double confidence_z = 1.96;     // two-sided 95 %
  double fit_z = 3.3;             // two-sided 99.9 %: rungs further apart than this contradict each other
  uint32_t saturation_looks = 8;  // looks that must all be hits before a page counts as saturated on a rung
  // At most this hit rate for a rung to be read off (the largest such rung is). Nearer to 1, the looks in
  // which a not quite regular writer comes twice are lost: 20 kHz on a 50 us rung reads 12 % low.
  double unsaturated_rate = 0.7;
  // A page that was hit more often than this on its only rung was due on a shorter one. Without that, nothing
  // tells a fast page that missed some looks while its process waited from one as slow as the window.
  double unconfirmed_rate = 0.9;
  uint32_t fewest_hits = 3;       // below this: too_few
  double probe_load_limit = 0.2;  // CPU share taken by induced faults above which r < 1 is not trusted
  double double_count_window_seconds = 10e-6;  // shorter windows see the retried store twice
  double double_count_seconds = 0.8e-6;  // how long a store can be seen twice: low bounds fall by this / T
};

// One rung's answer for one page. Periodic inversion: frequency solves sum over looks of min(1, f * T_i) =
// hits with the measured windows T_i (never Poisson, never the mean of T). When windows are contiguous and
// shorter than 1/f every write gives one hit, so the spacing of the hits refines it: f = (hits - 1) / (time
// from first to last hit).
struct RungEstimate {
  double frequency_hertz = 0;
  double low_hertz = 0;
  double high_hertz = 0;  // infinite when saturated
  bool saturated = false;
  bool bursty = false;  // gaps between hits vary more than a memoryless writer's
};
RungEstimate EstimateRung(absl::Span<const Look> looks, const PageHits& page, const InvertOptions& options);

// Inverts every page of a sample. Pure; time linear in pages x rungs. The order of regions in the sample
// gives PageFrequency::region.
FrequencyMap InvertWindows(const SweepSample& sample, const InvertOptions& options = {});

}  // namespace mempulse
