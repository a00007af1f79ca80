#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "collectors/pages/sweep_sample.h"
#include "exporter/analysis/page_frequency.h"
#include "tests/kernels/softdirty_subject.h"
#include "tests/kernels/virtual_time.h"

namespace mempulse {

// A sweep of a puppet in virtual time, and what happens meanwhile.
struct VirtualSweep {
  double jitter = 0.25;
  uint64_t seed = 1;
  TimedSoftDirty::Costs costs;
  std::vector<VirtualTime::Event> events;  // due_nanos counted from the begin of the sweep
  uint64_t flat_out_page = 0;              // address; 0: none
  PageRange area;                          // the only pages that are looked at
};
struct VirtualAnswer {
  FrequencyMap map;
  SweepOutcome outcome = SweepOutcome::kFailed;
  uint64_t looks = 0;
  uint64_t discarded = 0;
  std::vector<int64_t> clears;  // when each began, from the begin of the sweep
};
// Both throw std::runtime_error when the sweep cannot begin.
VirtualAnswer RunVirtualSweep(const Subject& subject, Puppet* puppet, const VirtualSweep& plan);

// The same with any tracker on the puppet, which is put into virtual time.
VirtualAnswer RunVirtualSweepWith(std::unique_ptr<PageTracker> tracker, Puppet* puppet,
                                  const VirtualSweep& plan);

VirtualTime::Event WritesOf(Puppet* puppet, uint64_t address, uint64_t pages, double hertz, double phase);

// The page of the answer, or nullptr when it was never hit.
const PageFrequency* FindPage(const FrequencyMap& map, uint64_t address);
std::string DescribePage(const PageFrequency* page);

}  // namespace mempulse
