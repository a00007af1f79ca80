#pragma once

#include "config/options.h"
#include "config/problem_list.h"
#include "config/section_reader.h"

namespace mempulse {

// The rules that concern more than one key: order of the windows, the ceiling window, unique group names,
// attach. Skips what already has a problem, so that one mistake is told once.
void CheckAcrossKeys(const Options& options, const KeyLines& lines, ProblemList& problems);

}  // namespace mempulse
