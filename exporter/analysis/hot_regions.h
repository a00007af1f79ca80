#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "collectors/pages/sweep_sample.h"
#include "exporter/analysis/page_frequency.h"

namespace mempulse {

// A run of neighbouring pages of one mapping with the same state and like frequencies (intervals overlap).
struct HotRegion {
  uint64_t start = 0;
  uint64_t end = 0;
  PageState state = PageState::kTooFew;
  double frequency_hertz = 0;  // median of the pages
  double low_hertz = 0;        // least low, greatest high
  double high_hertz = 0;
  double weight = 0;  // pages it stands for
  double z = 0;       // robust z of log10 frequency against all pages of the map
  int region = -1;
  RegionKind kind = RegionKind::kOther;
  std::vector<RungCount> rungs;  // sums over pages
};

// Runs, fastest first (at_ceiling before measured). Pages further apart than one page never join.
std::vector<HotRegion> MergeHotRegions(const FrequencyMap& map);

// Robust z of each value: 0.6745 * (x - median) / MAD; when MAD is 0 the mean absolute deviation takes its
// place (1.2533), and when that is 0 too every z is 0. (Iglewicz and Hoaglin, 1993.)
std::vector<double> RobustZ(const std::vector<double>& values);

// What survives a restart: build id (or device:inode when the file has none) and the file offset of the page.
// Empty for pages without a file.
struct StableIdentity {
  std::string object;  // "build-id:HEX" or "file:MAJOR:MINOR:INODE"
  uint64_t offset = 0;
};
StableIdentity IdentifyPage(const SweepRegion& region, uint64_t address);

}  // namespace mempulse
