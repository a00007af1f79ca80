#include "collectors/targets/user_space_mounts.h"

#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace mempulse {
namespace {

constexpr size_t kDeviceField = 2;
constexpr size_t kMountPointField = 4;

bool IsBelow(absl::string_view path, absl::string_view folder) {
  return absl::StartsWith(path, folder) && (path.size() == folder.size() || path[folder.size()] == '/');
}

}  // namespace

bool IsOnUserSpaceMount(absl::string_view mountinfo, const Mapping& mapping) {
  const std::string device = absl::StrCat(mapping.device_major, ":", mapping.device_minor);
  for (absl::string_view line : absl::StrSplit(mountinfo, '\n')) {
    // Most lines are of other kinds and need no splitting. Blanks inside of fields are escaped.
    if (!absl::StrContains(line, " - fuse")) continue;
    const std::vector<absl::string_view> fields = absl::StrSplit(line, ' ');
    if (fields.size() <= kMountPointField) continue;
    if (fields[kDeviceField] == device || IsBelow(mapping.name, fields[kMountPointField])) return true;
  }
  return false;
}

}  // namespace mempulse
