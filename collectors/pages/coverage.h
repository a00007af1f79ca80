#pragma once

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "collectors/pages/page_range.h"
#include "collectors/pages/page_tracker.h"
#include "collectors/targets/mapping_list.h"

namespace mempulse {

// The present pages of one mapping. Both lists ascending, disjoint and merged; no page is in both.
struct PresentPages {
  std::vector<PageRange> base;
  std::vector<PageRange> huge;  // inside a huge page, or possibly inside one where the kernel does not say
  bool cut = false;             // the mapping was too large to be walked to its end
};

// Where the present pages of a target are read: the seam between arithmetic and kernel.
class PresenceSource {
 public:
  virtual ~PresenceSource() = default;
  // NotFound: the target is gone. A mapping that vanished has no present pages.
  virtual absl::StatusOr<PresentPages> FindPresent(const Mapping& mapping) = 0;
};

struct CoverageRules {
  bool needs_readable = false;  // PROT_NONE mappings are refused ("not_readable")
};

// Why a mapping cannot take part at all ("shared", "special", "not_readable"), or nullptr. A static string.
const char* MappingRefusal(const Mapping& mapping, const CoverOptions& options, const CoverageRules& rules);

// The present pages of the mappings that may take part, cut at options.max_pages in the order given.
absl::StatusOr<Coverage> CoverPresentPages(absl::Span<const Mapping> mappings, const CoverOptions& options,
                                           const CoverageRules& rules, PresenceSource* source);

}  // namespace mempulse
