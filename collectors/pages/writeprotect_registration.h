#pragma once

#include <vector>

#include "absl/types/span.h"
#include "collectors/pages/page_range.h"
#include "collectors/pages/userfaultfd.h"

namespace mempulse {

// What is left of the userfaultfd when a registration ends.
enum class DescriptorLife {
  kCloses,  // it was the last: the kernel takes the rest of the protection away
  kStays,   // somebody else of us keeps it
};

// The mappings of the target that are registered for write protection. Destroying it takes the protection
// away in pieces with pauses, because closing the descriptor at once would stall the target's mmap for 10 ms
// a GiB. Not thread-safe.
class WriteProtectRegistration {
 public:
  WriteProtectRegistration(WriteProtection protection, DescriptorLife life);
  WriteProtectRegistration(const WriteProtectRegistration&) = delete;
  WriteProtectRegistration& operator=(const WriteProtectRegistration&) = delete;
  ~WriteProtectRegistration();

  // Registers one mapping, again if it was; 0 or an errno as WriteProtection::Register.
  int Add(PageRange mapping);
  // Where the protected pages are, ascending: decides how the mappings are cut when all ends.
  void SetPopulation(std::vector<PageRange> population) { population_ = std::move(population); }
  // Keeps of what was registered only what lies in `mappings` (ascending): the kernel has forgotten the rest.
  void Retain(absl::Span<const PageRange> mappings);

 private:
  void Release(PageRange mapping);
  void ReleasePiece(PageRange piece);

  WriteProtection protection_;
  const DescriptorLife life_;
  std::vector<PageRange> registered_;
  std::vector<PageRange> population_;
};

}  // namespace mempulse
