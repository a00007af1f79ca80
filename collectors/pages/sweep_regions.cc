#include "collectors/pages/sweep_regions.h"

namespace mempulse {

std::vector<SweepRegion> RegionsOf(const std::vector<Mapping>& mappings, const Coverage& coverage) {
  std::vector<SweepRegion> regions;
  size_t next = 0;
  for (const Mapping& mapping : mappings) {
    while (next < coverage.ranges.size() && coverage.ranges[next].end <= mapping.start) ++next;
    if (next == coverage.ranges.size()) break;
    if (coverage.ranges[next].start >= mapping.end) continue;
    SweepRegion region;
    region.range = {mapping.start, mapping.end};
    region.kind = static_cast<int>(mapping.kind);
    region.name = mapping.name;
    region.offset = mapping.offset;
    region.inode = mapping.inode;
    region.device_major = mapping.device_major;
    region.device_minor = mapping.device_minor;
    region.writable = mapping.writable;
    regions.push_back(std::move(region));
  }
  return regions;
}

Mapping MappingOf(const SweepRegion& region) {
  Mapping mapping;
  mapping.start = region.range.start;
  mapping.end = region.range.end;
  mapping.offset = region.offset;
  mapping.inode = region.inode;
  mapping.device_major = region.device_major;
  mapping.device_minor = region.device_minor;
  mapping.name = region.name;
  return mapping;
}

}  // namespace mempulse
