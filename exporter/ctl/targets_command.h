#pragma once

#include <string>

#include "absl/status/statusor.h"

namespace mempulse {

// The table of /api/v1/targets for a person. InvalidArgument when the text is not that JSON.
absl::StatusOr<std::string> TargetsTable(const std::string& json);

// Fetches URL/api/v1/targets (plain HTTP) and prints it. Exit status: 0 done, 1 failed.
int RunTargetsCommand(const std::string& url, bool as_json);

// Prints what works and what does not, on this machine and (pid > 0) on a process. Exit status: 0 when at
// least one page tracker works, 1 when none does or the process is gone.
int RunDoctor(int pid, bool as_json);

}  // namespace mempulse
