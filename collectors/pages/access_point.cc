#include "collectors/pages/access_point.h"

namespace mempulse {

absl::string_view AccessPointName(AccessPoint point) {
  switch (point) {
    case AccessPoint::kMaps:
      return "maps";
    case AccessPoint::kSmaps:
      return "smaps";
    case AccessPoint::kPagemap:
      return "pagemap";
    case AccessPoint::kMem:
      return "mem";
    case AccessPoint::kClearRefs:
      return "clear_refs";
    case AccessPoint::kAttach:
      return "attach";
  }
  return "";
}

int AccessError(AccessPoint point, const AccessErrors& errors) {
  switch (point) {
    case AccessPoint::kMaps:
      return errors.maps;
    case AccessPoint::kSmaps:
      return errors.smaps;
    case AccessPoint::kPagemap:
      return errors.pagemap;
    case AccessPoint::kMem:
      return errors.mem;
    case AccessPoint::kClearRefs:
      return errors.clear_refs;
    case AccessPoint::kAttach:
      return errors.attach;
  }
  return 0;
}

}  // namespace mempulse
