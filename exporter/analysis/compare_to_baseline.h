#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "exporter/analysis/baseline.h"

// One run held against a baseline. Pure; comparing 100,000 pages with 50 runs takes a few milliseconds.
namespace mempulse {

struct CompareOptions {
  double quiet_hertz = 2;        // slower pages are never faster than normal: too few hits tell them apart
  double margin = 1.05;          // windows are measured no better than that
  double identity_factor = 1.5;  // a known identity must be over its fastest run by this much
  // Where this share of the ranks is over, by factors within `shift_spread` of each other, the process is
  // busier.
  double shift_share = 0.5;
  double shift_spread = 1.35;
};

// One curve: pages that are over the fastest k-th page of any run. One intruder is one page: it is taken out
// and the next page is compared with the same rank.
struct CurveComparison {
  uint64_t over_pages = 0;
  double excess_ratio =
      1;  // of the page that is furthest over: low end of its interval / high end of the envelope
  uint64_t excess_rank = 0;
  double excess_hertz = 0;           // of that page
  double excess_baseline_hertz = 0;  // envelope at its rank
  double shift_factor = 1;           // middle ratio of live to middle run over the ranks that both have
  bool shifted = false;              // busier as a whole: the factor was taken out before pages were compared
};

struct NovelIdentity {
  std::string object;  // StableIdentity::object
  std::string name;
  uint64_t offset = 0;
  double hertz = 0;
  double low = 0;
  bool new_object = false;  // no page of this object was ever written
};

struct FasterIdentity {
  std::string object;
  std::string name;
  uint64_t offset = 0;
  double hertz = 0;
  double baseline_hertz = 0;  // highest of any run
  double ratio = 1;
};

struct CeilingComparison {
  double live = 0;
  double baseline_least = 0;
  double baseline_most = 0;
  double above = 0;  // pages by which the low end of the live interval is above the range; 0 inside
  bool below = false;
};

struct Comparison {
  std::string incomparable;  // why nothing was compared; empty: it was
  size_t runs = 0;           // compared with
  double seen_share = 1;     // below 1: what was not found may not have been looked at
  CurveComparison whole;
  std::array<CurveComparison, kAllRegionKinds.size()> kinds;
  std::vector<NovelIdentity> novel;    // fastest first
  std::vector<FasterIdentity> faster;  // greatest ratio first
  CeilingComparison ceiling;
  std::array<CeilingComparison, kAllRegionKinds.size()> ceiling_by_kind;
};

Comparison CompareToBaseline(const RunProfile& live, const Baseline& baseline,
                             const BaselineEnvelope& envelope, const CompareOptions& options = {});

// The same for one of the baseline's own runs against the others: what is normal among them.
Comparison CompareToOthers(size_t run, const Baseline& baseline, const BaselineEnvelope& envelope,
                           const CompareOptions& options = {});

}  // namespace mempulse
