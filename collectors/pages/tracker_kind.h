#pragma once

#include <array>

#include "absl/strings/string_view.h"

namespace mempulse {

enum class TrackerKind { kWriteProtect, kSoftDirty, kHashDiff };

inline constexpr std::array<TrackerKind, 3> kAllTrackerKinds = {
    TrackerKind::kWriteProtect, TrackerKind::kSoftDirty, TrackerKind::kHashDiff};

// "writeprotect", "softdirty", "hashdiff": a static string.
constexpr absl::string_view TrackerKindName(TrackerKind kind) {
  switch (kind) {
    case TrackerKind::kWriteProtect:
      return "writeprotect";
    case TrackerKind::kSoftDirty:
      return "softdirty";
    case TrackerKind::kHashDiff:
      return "hashdiff";
  }
  return "";
}

}  // namespace mempulse
