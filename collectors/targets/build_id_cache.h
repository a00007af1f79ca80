#pragma once

#include <sys/types.h>

#include <string>

#include "absl/container/flat_hash_map.h"
#include "collectors/host/host.h"
#include "collectors/targets/mapping_list.h"

namespace mempulse {

// Build ids of mapped files, each file read once. Bounded; not thread-safe.
class BuildIdCache {
 public:
  // `host` must outlive the cache.
  explicit BuildIdCache(const Host& host) : host_(host) {}

  // Lower-case hex; empty for a mapping without a file and for a file without a build id or that cannot be
  // read.
  const std::string& Of(pid_t pid, const Mapping& mapping);

 private:
  const Host& host_;
  absl::flat_hash_map<std::string, std::string> known_;  // by device:inode:name
};

}  // namespace mempulse
