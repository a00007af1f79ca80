#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "collectors/targets/region_kind.h"

namespace mempulse {

// A run of hot pages of one file, in file terms: nothing here changes when the process restarts.
struct FileRegion {
  std::string identity;  // StableIdentity::object
  uint64_t begin = 0;    // file offsets
  uint64_t end = 0;
  double hertz = 0;  // the fastest
  std::string name;  // path as mapped
  std::string build_id;
  RegionKind kind = RegionKind::kOther;
};

// The hottest file regions of one group, with places that do not flicker: a region that overlaps the range of
// a place is that place's region, and a place is lost only to a newcomer when its own frequency is below
// kKeep of the newcomer's. Not thread-safe.
class RegionSlots {
 public:
  static constexpr double kKeep = 0.8;
  // Rounds that a place stays reserved for a region that was not seen.
  static constexpr int kPatience = 20;

  struct Slot {
    std::string id;     // 12 hex digits of a hash over identity and the first range seen
    FileRegion region;  // as first seen, but for the frequency
    int unseen = 0;     // rounds since it was last seen
  };
  struct Answer {
    std::vector<Slot> shown;  // seen this round, fastest first
    uint64_t others = 0;      // seen regions without a place
  };

  Answer Update(const std::vector<FileRegion>& seen, int places);

 private:
  // Refreshes the places of known regions; returns the others, fastest first.
  std::vector<FileRegion> Recognise(const std::vector<FileRegion>& seen);

  std::vector<Slot> slots_;
};

}  // namespace mempulse
