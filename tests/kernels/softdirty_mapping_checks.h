#pragma once

#include <string>
#include <vector>

#include "tests/kernels/softdirty_subject.h"

namespace mempulse {

// What the target may do to its mappings between two looks. Each check: no old page is reported written that
// was not, in a look that is trusted; trust is back two looks later at the latest; a true write is seen then.
struct MappingCheck {
  std::string name;
  Check run;
};
std::vector<MappingCheck> MappingChecks();

// The same for base pages that the kernel makes one huge page of after they were covered. Some kernels
// decline to (Linux 6.1 and 6.12 right after a clear): *declined then, and nothing was checked.
std::string CollapsedPages(const Subject& subject, bool* declined);

}  // namespace mempulse
