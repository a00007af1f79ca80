#pragma once

#include <string>
#include <vector>

#include "tests/kernels/softdirty_subject.h"

namespace mempulse {

// A tracker that was broken on purpose, and the check that has to notice.
struct Mutant {
  Subject subject;
  std::string check_name;
  Check check;
  bool needs_scan = false;  // says something only where the kernel scans for soft-dirty pages
};
std::vector<Mutant> Mutants();

}  // namespace mempulse
