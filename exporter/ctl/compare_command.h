#pragma once

#include <string>
#include <vector>

#include "exporter/ctl/record_command.h"

namespace mempulse {

struct CompareCommand {
  RunCommand run;
  std::string file;
  int sweeps = 3;
  bool json = false;
};

// Holds a running process against a baseline file. Exit status: 0 clean, 1 findings, 2 cannot tell (the
// reason is printed).
int RunCompareCommand(const CompareCommand& command);

// Prints a baseline file. Exit status: 0 done, 1 failed.
int RunBaselineShow(const std::string& file, bool json);

// Makes one baseline of several files of one group and build. Exit status: 0 done, 1 failed.
int RunBaselineMerge(const std::vector<std::string>& files, const std::string& output);

}  // namespace mempulse
