#pragma once

#include <string>

#include "tests/kernels/softdirty_subject.h"

namespace mempulse {

// A sweep that is alone ends well and discards nothing; one clear of somebody else's costs a look and no
// more; one who clears every 17 ms is named by the outcome. `looks` receives how many it took.
std::string CheckForeignClears(const Subject& subject, uint64_t* looks = nullptr);

// The second tracker on a process is refused with its reason, and `auto` hashes instead; it is let in when
// the first one is gone.
std::string CheckSecondTracker();

}  // namespace mempulse
