#pragma once

#include "collectors/targets/mapping_list.h"
#include "collectors/targets/region_kind.h"

namespace mempulse {

// The kind of a mapping from everything but its `kind` field. Pure. Executable memory without a stable file
// (anonymous, memfd, shared segments) is jit; names that the target chose (prctl, glibc's decorated maps)
// change nothing, so that switching them on does not move memory from one kind to another. hugetlbfs can be
// told from its path only below /dev/hugepages; elsewhere its files count as files.
RegionKind ClassifyMapping(const Mapping& mapping);

}  // namespace mempulse
