#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tests/kernels/puppet.h"
#include "tests/kernels/softdirty_subject.h"
#include "tests/kernels/virtual_sweep.h"

namespace mempulse {

// Pages written at 5, 50 and 200 Hz, flat out, once and never: each tier is found in its own state, and the
// true rate lies inside the interval that the analysis gives.
struct TierScore {
  int inside = 0;  // true rates inside the interval, to the letter
  int asked = 0;
};
std::string CheckTiers(const Subject& subject, uint64_t seed, TierScore* score = nullptr);

// The tiers that have a rate, on a puppet; the address of each is that of its first page.
struct Tier {
  double hertz = 0;  // infinite: flat out
  uint64_t address = 0;
};
std::vector<Tier> RatedTiers();
void MapTiers(Puppet* puppet);
VirtualSweep PlanTiers(Puppet* puppet, uint64_t seed);

// A writer in step with the looks, always between a read and the clear after it, is never seen without
// jitter; with it the rate is found.
std::string CheckPhaseLock(const Subject& subject);
std::string ShowPhaseLock();  // the same writer without jitter: empty when it hides, as it should

// A mapping of thousands of pages, which the kernel scans by itself where it can.
std::string CheckLargeMapping(const Subject& subject);

}  // namespace mempulse
