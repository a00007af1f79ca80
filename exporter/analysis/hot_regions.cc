#include "exporter/analysis/hot_regions.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/types/span.h"

namespace mempulse {
namespace {

constexpr double kMadScale = 0.6745;            // MAD of a normal distribution in standard deviations
constexpr double kMeanDeviationScale = 1.2533;  // standard deviation / mean absolute deviation
// Neighbours join when their intervals overlap, and even when narrow ones just miss each other: each of many
// intervals has its 5 % chance to miss. They never join across a wide step, so slopes do not become one
// region.
constexpr double kAlike = 1.1;
constexpr double kNeverAlike = 2;

// Reorders the values.
double MedianInPlace(std::vector<double>* values) {
  if (values->empty()) return 0;
  const auto middle = values->begin() + static_cast<std::ptrdiff_t>(values->size() / 2);
  std::nth_element(values->begin(), middle, values->end());
  if (values->size() % 2 == 1) return *middle;
  return (*std::max_element(values->begin(), middle) + *middle) / 2;
}

// Where the middle is and what one robust standard deviation measures; 0 when all values are equal.
struct Spread {
  double median = 0;
  double deviation = 0;
  double Z(double value) const { return deviation > 0 ? (value - median) / deviation : 0; }
};

Spread SpreadOf(std::vector<double> values) {
  Spread spread;
  if (values.empty()) return spread;
  spread.median = MedianInPlace(&values);
  double sum = 0;
  for (double& value : values) {
    value = std::abs(value - spread.median);
    sum += value;
  }
  const double mean = sum / static_cast<double>(values.size());
  spread.deviation = MedianInPlace(&values) / kMadScale;
  if (spread.deviation == 0) spread.deviation = mean * kMeanDeviationScale;
  return spread;
}

double Logarithm(double hertz) { return std::log10(std::max(hertz, 1e-6)); }

bool Alike(const PageFrequency& a, const PageFrequency& b) {
  if (a.state != b.state || a.region != b.region) return false;
  if (a.state == PageState::kAtCeiling || a.state == PageState::kProbeLimited) return true;
  const double ratio = std::max(a.frequency_hertz, b.frequency_hertz) /
                       std::max(1e-9, std::min(a.frequency_hertz, b.frequency_hertz));
  const bool overlap = a.low_hertz <= b.high_hertz && b.low_hertz <= a.high_hertz;
  return ratio <= kAlike || (overlap && (ratio <= kNeverAlike || a.state != PageState::kMeasured));
}

void AddRungs(const std::vector<RungCount>& rungs, std::vector<RungCount>* sums) {
  for (const RungCount& rung : rungs) {
    const auto same = std::find_if(sums->begin(), sums->end(),
                                   [&](const RungCount& s) { return s.requested == rung.requested; });
    if (same == sums->end()) {
      const auto shorter = std::find_if(sums->begin(), sums->end(),
                                        [&](const RungCount& s) { return s.requested < rung.requested; });
      sums->insert(shorter, rung);
      continue;
    }
    same->looks += rung.looks;
    same->hits += rung.hits;
  }
}

// `frequencies` is room to work in, kept between calls.
HotRegion Join(absl::Span<const PageFrequency> pages, const Spread& spread,
               std::vector<double>* frequencies) {
  HotRegion region;
  region.start = pages.front().address;
  region.end = pages.back().address + kPageSize;
  region.state = pages.front().state;
  region.region = pages.front().region;
  region.kind = pages.front().kind;
  region.low_hertz = pages.front().low_hertz;
  region.rungs.reserve(pages.front().rungs.size());
  frequencies->clear();
  for (const PageFrequency& page : pages) {
    frequencies->push_back(page.frequency_hertz);
    region.low_hertz = std::min(region.low_hertz, page.low_hertz);
    region.high_hertz = std::max(region.high_hertz, page.high_hertz);
    region.weight += page.weight;
    AddRungs(page.rungs, &region.rungs);
  }
  region.frequency_hertz = MedianInPlace(frequencies);
  region.z = spread.Z(Logarithm(region.frequency_hertz));
  return region;
}

// Sorts small keys and moves each region once: regions are large and there may be as many as pages.
std::vector<HotRegion> FastestFirst(std::vector<HotRegion> regions) {
  struct Key {
    bool at_ceiling;
    double hertz;
    size_t index;  // ascending by address
  };
  std::vector<Key> keys;
  keys.reserve(regions.size());
  for (const HotRegion& region : regions) {
    keys.push_back({region.state == PageState::kAtCeiling, region.frequency_hertz, keys.size()});
  }
  std::sort(keys.begin(), keys.end(), [](const Key& a, const Key& b) {
    if (a.at_ceiling != b.at_ceiling) return a.at_ceiling;
    if (a.hertz != b.hertz) return a.hertz > b.hertz;
    return a.index < b.index;
  });
  std::vector<HotRegion> sorted;
  sorted.reserve(regions.size());
  for (const Key& key : keys) sorted.push_back(std::move(regions[key.index]));
  return sorted;
}

}  // namespace

std::vector<HotRegion> MergeHotRegions(const FrequencyMap& map) {
  const absl::Span<const PageFrequency> pages = map.pages;
  std::vector<double> logarithms;
  logarithms.reserve(pages.size());
  for (const PageFrequency& page : pages) logarithms.push_back(Logarithm(page.frequency_hertz));
  const Spread spread = SpreadOf(std::move(logarithms));
  std::vector<double> room;
  std::vector<HotRegion> regions;
  regions.reserve(pages.size());
  for (size_t begin = 0; begin < pages.size();) {
    size_t end = begin + 1;
    // Each page is compared with the first one too, so small steps do not add up.
    while (end < pages.size() && pages[end].address == pages[end - 1].address + kPageSize &&
           Alike(pages[end - 1], pages[end]) && Alike(pages[begin], pages[end])) {
      ++end;
    }
    regions.push_back(Join(pages.subspan(begin, end - begin), spread, &room));
    begin = end;
  }
  return FastestFirst(std::move(regions));
}

std::vector<double> RobustZ(const std::vector<double>& values) {
  const Spread spread = SpreadOf(values);
  std::vector<double> result;
  result.reserve(values.size());
  for (double value : values) result.push_back(spread.Z(value));
  return result;
}

StableIdentity IdentifyPage(const SweepRegion& region, uint64_t address) {
  StableIdentity identity;
  if (region.inode == 0 || address < region.range.start || address >= region.range.end) return identity;
  const auto kind = static_cast<RegionKind>(region.kind);
  if (kind != RegionKind::kFileData && kind != RegionKind::kFileText) return identity;
  identity.object = region.build_id.empty() ? absl::StrCat("file:", region.device_major, ":",
                                                           region.device_minor, ":", region.inode)
                                            : absl::StrCat("build-id:", region.build_id);
  identity.offset = region.offset + (address - region.range.start);
  return identity;
}

}  // namespace mempulse
