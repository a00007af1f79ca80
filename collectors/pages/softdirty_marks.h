#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "collectors/pages/page_range.h"
#include "collectors/pages/softdirty_kernel.h"
#include "collectors/targets/mapping_list.h"

namespace mempulse {

// Tells a mapping that reads dirty as a whole from pages that were written. The kernel marks a mapping that
// was merged or grew; when the neighbour is unmapped again in the same window, the list of mappings looks
// untouched and every old page reads written. One page of the mapping that was not written betrays it: a
// clean one proves that the mapping carries no mark, an absent one that reads dirty proves that it does.
// Where every page is present and dirty, a page that had been clean since it was chosen speaks against the
// whole once, then never again for that mapping: a program may write all of its memory. Not thread-safe.
class MappingMarks {
 public:
  explicit MappingMarks(SoftDirtyKernel* kernel) : kernel_(kernel) {}

  // The mappings of this moment. What is known of unchanged ones is kept.
  void Learn(absl::Span<const Mapping> mappings);

  // Once the bits mean something (at a look): chooses marks in the mappings that were learned since.
  absl::Status Choose();

  // Before the clear that ends a window: whether a mapping that holds one of the written pages (ascending)
  // reads dirty as a whole.
  absl::StatusOr<bool> ReadsDirtyAsAWhole(absl::Span<const PageRange> written);

 private:
  struct Area {
    uint64_t end = 0;
    uint64_t mark = 0;  // a page that was clean when it was chosen; 0: none
    bool accused = false;
  };
  enum class Answer { kClean, kMarked, kUnknown };

  absl::StatusOr<Answer> Ask(uint64_t page);
  absl::StatusOr<Answer> Probe(uint64_t start, Area* area);
  absl::StatusOr<bool> IsMarked(uint64_t start, Area* area);

  SoftDirtyKernel* kernel_;
  std::map<uint64_t, Area> areas_;  // by start
  bool chosen_ = false;             // marks were looked for since Learn
};

}  // namespace mempulse
