#pragma once

#include <string>
#include <vector>

#include "config/options.h"

namespace mempulse {

// What is allowed but probably not meant, one sentence each with its key: no targets at all, attach that
// nothing uses, limits that can never be met. For --config.check and the log at start.
std::vector<std::string> OptionWarnings(const Options& options);

}  // namespace mempulse
