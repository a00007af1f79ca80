#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "collectors/host/host.h"
#include "collectors/targets/target.h"
#include "config/options.h"

namespace mempulse {

struct FoundGroup {
  std::string name;
  std::vector<ProcessFacts> processes;  // this round's sample, at most max_processes
  int matched = 0;                      // before the cap
  std::vector<std::string> problems;    // e.g. "pid file /run/x.pid: no such file": shown, not fatal
};

// Finds the processes of every configured group in one pass over procfs. Not thread-safe (keeps the rotation).
class TargetFinder {
 public:
  // InvalidArgument when a regular expression or glob does not compile; names group and expression.
  static absl::StatusOr<std::unique_ptr<TargetFinder>> Create(const Host& host,
                                                              std::vector<TargetGroupOptions> groups);
  // In the order of the configuration. A process belongs to the first group that selects it. The exporter itself,
  // kernel threads and zombies are never selected. When a group matches more than its cap, successive calls rotate
  // through all of its processes (sample k starts after the last process of sample k-1).
  absl::StatusOr<std::vector<FoundGroup>> Find();

 private:
  struct Compiled;
  TargetFinder(const Host& host, std::vector<Compiled> groups);

  const Host& host_;
  std::vector<Compiled> groups_;

 public:
  ~TargetFinder();
};

}  // namespace mempulse
