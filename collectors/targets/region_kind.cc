#include "collectors/targets/region_kind.h"

namespace mempulse {

absl::string_view RegionKindName(RegionKind kind) {
  switch (kind) {
    case RegionKind::kFileData:
      return "file-data";
    case RegionKind::kFileText:
      return "file-text";
    case RegionKind::kHeap:
      return "heap";
    case RegionKind::kStack:
      return "stack";
    case RegionKind::kAnon:
      return "anon";
    case RegionKind::kShared:
      return "shared";
    case RegionKind::kJit:
      return "jit";
    case RegionKind::kDevice:
      return "device";
    case RegionKind::kOther:
      break;
  }
  return "other";
}

bool ParseRegionKind(absl::string_view text, RegionKind* kind) {
  for (RegionKind candidate : kAllRegionKinds) {
    if (RegionKindName(candidate) == text) {
      *kind = candidate;
      return true;
    }
  }
  return false;
}

}  // namespace mempulse
