#pragma once

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "collectors/pages/pagemap.h"
#include "collectors/pages/userfaultfd.h"
#include "collectors/targets/mapping_list.h"

namespace mempulse {

// Does the userfaultfd belong to the address space behind the pagemap? A kernel tells nobody, so it is tried:
// one mapping is registered and released again, and the pagemap must show the change both times. No page is
// protected. A process that passes a stranger's descriptor makes the kernel register that range of the
// stranger for a moment, which holding the descriptor lets it do anyway.
//
// Unavailable with "foreign_memory: ..." when it does not, "foreign_tracker: ..." when another userfaultfd
// has every mapping that could be tried. NotFound: the address space behind the pagemap is gone. Takes a few
// microseconds.
absl::Status CheckOwnMemory(const WriteProtection& offered, const Pagemap& pagemap,
                            absl::Span<const Mapping> mappings);

}  // namespace mempulse
