#pragma once

#include <cstdint>

#include "absl/status/statusor.h"
#include "collectors/host/unique_fd.h"
#include "collectors/pages/page_range.h"

namespace mempulse {

// Asynchronous write protection through one userfaultfd, of whichever address space created it. Closing it
// removes every protection, but stalls that address space for about 10 ms a GiB: unregister in pieces first.
// Move-only; not thread-safe.
class WriteProtection {
 public:
  // Agrees on the features with the kernel. Unavailable before Linux 6.7. Takes a descriptor that nobody has
  // negotiated yet.
  static absl::StatusOr<WriteProtection> Negotiate(UniqueFd userfaultfd);

  // A second owner of the same userfaultfd: protection ends when the last one is closed.
  absl::StatusOr<WriteProtection> Share() const;

  // Each returns 0 or an errno: EBUSY another userfaultfd has a mapping of the range, EPERM a read-only
  // shared file, EINVAL nothing there or a special mapping, ENOMEM the address space is gone. Registering
  // twice is harmless.
  int Register(PageRange range) const;
  // Older kernels do not check the owner: Register the range (EBUSY if foreign) immediately before.
  int Unregister(PageRange range) const;

  // Whether the address space has ended: its process has exited or executed another program. Takes its lock
  // for reading.
  bool AddressSpaceGone() const;

 private:
  explicit WriteProtection(UniqueFd userfaultfd);

  UniqueFd userfaultfd_;
};

// Whether the descriptor is a userfaultfd, told by its name and without touching it.
bool IsUserfaultfd(int fd);

// A userfaultfd of this process's own address space, for probes and tests.
absl::StatusOr<UniqueFd> CreateUserfaultfd();

}  // namespace mempulse
