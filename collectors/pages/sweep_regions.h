#pragma once

#include <vector>

#include "collectors/pages/page_tracker.h"
#include "collectors/pages/sweep_sample.h"
#include "collectors/targets/mapping_list.h"

// From mappings to the regions of a sample and back. Pure.
namespace mempulse {

// The covered mappings of a sweep as the analysis wants them; ascending.
std::vector<SweepRegion> RegionsOf(const std::vector<Mapping>& mappings, const Coverage& coverage);
// The mapping that a region was made of, as far as a region tells.
Mapping MappingOf(const SweepRegion& region);

}  // namespace mempulse
