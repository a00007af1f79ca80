#include "collectors/targets/build_id_cache.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "collectors/targets/build_id.h"

namespace mempulse {
namespace {

constexpr size_t kMostFiles = 1024;

}  // namespace

const std::string& BuildIdCache::Of(pid_t pid, const Mapping& mapping) {
  static const std::string kNone;
  if (mapping.inode == 0) return kNone;
  std::string key =
      absl::StrCat(mapping.device_major, ":", mapping.device_minor, ":", mapping.inode, ":", mapping.name);
  auto known = known_.find(key);
  if (known == known_.end()) {
    if (known_.size() >= kMostFiles) known_.clear();
    absl::StatusOr<std::string> id = ReadBuildId(host_, pid, mapping);
    known = known_.emplace(std::move(key), id.ok() ? *std::move(id) : std::string()).first;
  }
  return known->second;
}

}  // namespace mempulse
