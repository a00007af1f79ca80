#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "absl/types/span.h"

namespace mempulse {

// A write frequency with its 95 % interval, hertz. A floor has an infinite high.
struct RateClaim {
  double hertz = 0;
  double low = 0;
  double high = 0;
  double weight = 1;  // pages it stands for
};

// The frequencies of a process sorted fastest first, which is what anonymous memory keeps over a restart.
// Curves of large processes are thinned: every rank up to kDenseRanks, then ranks 2 % apart.
class RankCurve {
 public:
  static constexpr uint64_t kDenseRanks = 256;

  struct Point {
    uint64_t rank = 1;  // of the first page of the step, counted from 1
    float hertz = 0;
    float low = 0;
    float high = 0;

    bool operator==(const Point&) const = default;
  };

  RankCurve() = default;
  // Points ascending by rank from 1, frequencies not rising, as FromClaims and a baseline file give them.
  RankCurve(std::vector<Point> points, uint64_t pages) : points_(std::move(points)), pages_(pages) {}
  static RankCurve FromClaims(std::vector<RateClaim> claims);

  // The step that holds `rank`; beyond the last page a point of zeros. Between thinned ranks it is the faster
  // neighbour.
  Point At(uint64_t rank) const;
  uint64_t pages() const { return pages_; }
  const std::vector<Point>& points() const { return points_; }

  bool operator==(const RankCurve&) const = default;

 private:
  std::vector<Point> points_;
  uint64_t pages_ = 0;
};

// Ranks at which curves of up to `pages` pages are kept and compared, ascending from 1.
std::vector<uint64_t> ComparedRanks(uint64_t pages);

}  // namespace mempulse
