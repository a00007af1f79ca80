#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "collectors/host/host.h"
#include "collectors/pages/coverage.h"
#include "collectors/pages/page_tracker.h"
#include "collectors/targets/target.h"

namespace mempulse {

// Every system call of the soft-dirty tracker, for one process: what a test scripts on a machine whose kernel
// has no soft-dirty bits. Errors: NotFound when the target is gone. Not thread-safe.
class SoftDirtyKernel : public PresenceSource {
 public:
  // Clears the bits of the whole process.
  virtual absl::Status Clear() = 0;
  virtual absl::Status ReadEntries(uint64_t start, absl::Span<uint64_t> entries) = 0;
  // Appends the present soft-dirty pages of one range, merged. Only where scans().
  virtual absl::Status ScanDirty(const PageRange& range, std::vector<PageRange>* dirty) = 0;
  virtual bool scans() const = 0;
  virtual absl::StatusOr<std::vector<Mapping>> ReadMappings() = 0;
  virtual int64_t MonotonicNanos() = 0;
};

// Unavailable, with a message that begins with "foreign_tracker: ", while another one is open on the process.
absl::StatusOr<std::unique_ptr<SoftDirtyKernel>> OpenSoftDirtyKernel(const Host& host, const Target& target);

// The tracker on a kernel of the caller's making.
std::unique_ptr<PageTracker> MakeSoftDirtyTracker(std::unique_ptr<SoftDirtyKernel> kernel);

}  // namespace mempulse
