#pragma once

#include <vector>

#include "absl/types/span.h"
#include "collectors/pages/page_range.h"
#include "collectors/targets/mapping_list.h"

namespace mempulse {

// Mappings of `after` (ascending, like `before`) whose soft-dirty bits may be false: the kernel marks a
// mapping that is new, grew or was merged dirty as a whole, its old pages included. A mapping that shrank,
// was split or changed its protection keeps true bits and is not listed; nor is one that vanished.
std::vector<PageRange> ChangedMappings(absl::Span<const Mapping> before, absl::Span<const Mapping> after);

}  // namespace mempulse
