#pragma once

#include <string>

#include "config/options.h"
#include "exporter/publish/snapshot.h"

namespace mempulse {

// The HTML of "/": version, links, and one row a target. No script, nothing loaded from elsewhere; what comes
// from targets is escaped. `snapshot` may be null.
std::string RenderLandingPage(const Snapshot* snapshot, const WebOptions& options);

}  // namespace mempulse
