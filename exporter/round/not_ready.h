#pragma once

#include <string>
#include <vector>

#include "exporter/round/round_report.h"

namespace mempulse {

// Why the exporter measures nothing, for the person who reads /-/ready. `refused` are groups with those of
// their processes that no tracker works on (ProcessReport::support says why). Empty when there are none.
// First a line with the count, then a line for each group, mechanism and reason: for how many processes, what
// was tried on one of them and what would help. Names of processes are escaped.
std::string DescribeNotReady(const std::vector<GroupReport>& refused);

}  // namespace mempulse
