#pragma once

#include "collectors/host/host.h"
#include "collectors/pages/tracker_probe.h"

// One functional probe for each mechanism, on two pages of our own between unreadable ones. Thread-safe; a
// few hundred microseconds each.
namespace mempulse {

TrackerSupport ProbeOwnWriteProtect(const Host& host);
// Clears the soft-dirty bits of this whole process.
TrackerSupport ProbeOwnSoftDirty(const Host& host);
TrackerSupport ProbeOwnHashDiff(const Host& host);

}  // namespace mempulse
