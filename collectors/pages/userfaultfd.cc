#include "collectors/pages/userfaultfd.h"

#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "collectors/host/errno_status.h"

namespace mempulse {
namespace {

// Newer than the distribution's headers.
constexpr uint64_t kWpHugetlbfsShmem = 1 << 12;
constexpr uint64_t kWpUnpopulated = 1 << 13;
constexpr uint64_t kWpAsync = 1 << 15;

}  // namespace

WriteProtection::WriteProtection(UniqueFd userfaultfd) : userfaultfd_(std::move(userfaultfd)) {}

absl::StatusOr<WriteProtection> WriteProtection::Negotiate(UniqueFd userfaultfd) {
  uffdio_api api{};
  api.api = UFFD_API;
  api.features = kWpAsync | kWpUnpopulated | kWpHugetlbfsShmem;
  if (ioctl(userfaultfd.get(), UFFDIO_API, &api) != 0) {
    return ErrnoStatus("ioctl", "UFFDIO_API (asynchronous write protection, Linux 6.7)");
  }
  return WriteProtection(std::move(userfaultfd));
}

int WriteProtection::Register(PageRange range) const {
  uffdio_register request{};
  request.range = {range.start, range.end - range.start};
  request.mode = UFFDIO_REGISTER_MODE_WP;
  return ioctl(userfaultfd_.get(), UFFDIO_REGISTER, &request) == 0 ? 0 : errno;
}

int WriteProtection::Unregister(PageRange range) const {
  uffdio_range request{range.start, range.end - range.start};
  return ioctl(userfaultfd_.get(), UFFDIO_UNREGISTER, &request) == 0 ? 0 : errno;
}

absl::StatusOr<WriteProtection> WriteProtection::Share() const {
  UniqueFd copy(fcntl(userfaultfd_.get(), F_DUPFD_CLOEXEC, 0));
  if (!copy.valid()) return ErrnoStatus("dup", "userfaultfd");
  return WriteProtection(std::move(copy));
}

bool WriteProtection::AddressSpaceGone() const {
  // Protecting a page where nothing is: the kernel first looks whether there is an address space at all.
  constexpr uint64_t kLowestAllowed = 65536;  // vm.mmap_min_addr; nobody maps it
  uffdio_writeprotect request{};
  request.range = {kLowestAllowed, kPageSize};
  request.mode = UFFDIO_WRITEPROTECT_MODE_WP;
  return ioctl(userfaultfd_.get(), UFFDIO_WRITEPROTECT, &request) != 0 && errno == ESRCH;
}

bool IsUserfaultfd(int fd) {
  constexpr absl::string_view kName = "anon_inode:[userfaultfd]";
  char name[kName.size() + 1];
  const ssize_t length = readlink(absl::StrCat("/proc/self/fd/", fd).c_str(), name, sizeof(name));
  return length > 0 && absl::string_view(name, static_cast<size_t>(length)) == kName;
}

absl::StatusOr<UniqueFd> CreateUserfaultfd() {
  UniqueFd fd(static_cast<int>(syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK | UFFD_USER_MODE_ONLY)));
  if (!fd.valid()) return ErrnoStatus("userfaultfd", "own process");
  return fd;
}

}  // namespace mempulse
