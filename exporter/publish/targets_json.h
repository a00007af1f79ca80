#pragma once

#include <string>

#include "exporter/round/round_report.h"

namespace mempulse {

// The body of /api/v1/targets: the round, and each group with its processes, hot regions and rungs.
// Frequencies that are infinite are null, text that is not UTF-8 is repaired, times are RFC 3339 in UTC. Ends
// with a newline.
std::string RenderTargetsJson(const RoundReport& report);

}  // namespace mempulse
