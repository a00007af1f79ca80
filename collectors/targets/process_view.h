#pragma once

#include <string>
#include <utility>

#include "absl/types/optional.h"
#include "collectors/host/host.h"
#include "collectors/targets/process_stat.h"

namespace mempulse {

// One process during one pass over procfs: what a selector asks for is read when it is first asked for, and
// once. What cannot be read is empty. `host` must outlive it. Not thread-safe.
class ProcessView {
 public:
  ProcessView(const Host& host, ProcessStat stat) : host_(&host), stat_(std::move(stat)) {}

  const ProcessStat& stat() const { return stat_; }
  const std::string& exe();
  // Arguments joined by blanks; at most 4 KiB.
  const std::string& command_line();
  const std::string& cgroup();
  // The executable was asked for, and permission to see it refused.
  bool exe_refused() const { return exe_refused_; }

 private:
  const Host* host_;
  ProcessStat stat_;
  absl::optional<std::string> exe_;
  absl::optional<std::string> command_line_;
  absl::optional<std::string> cgroup_;
  bool exe_refused_ = false;
};

}  // namespace mempulse
