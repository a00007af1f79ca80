#include "collectors/pages/softdirty_mappings.h"

namespace mempulse {
namespace {

bool IsPartOf(const Mapping& part, const Mapping& whole) {
  if (part.start < whole.start || part.end > whole.end) return false;
  if (part.shared != whole.shared || part.inode != whole.inode || part.name != whole.name) return false;
  if (part.device_major != whole.device_major || part.device_minor != whole.device_minor) return false;
  return part.inode == 0 || part.offset - whole.offset == part.start - whole.start;
}

}  // namespace

std::vector<PageRange> ChangedMappings(absl::Span<const Mapping> before, absl::Span<const Mapping> after) {
  std::vector<PageRange> changed;
  size_t candidate = 0;
  for (const Mapping& now : after) {
    while (candidate < before.size() && before[candidate].end <= now.start) ++candidate;
    if (candidate < before.size() && IsPartOf(now, before[candidate])) continue;
    changed.push_back({now.start, now.end});
  }
  return changed;
}

}  // namespace mempulse
