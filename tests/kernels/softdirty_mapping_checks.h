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

}  // namespace mempulse
