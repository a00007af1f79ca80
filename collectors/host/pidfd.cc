#include "collectors/host/pidfd.h"

#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "absl/strings/str_cat.h"
#include "collectors/host/errno_status.h"

namespace mempulse {

absl::StatusOr<UniqueFd> OpenPidfd(pid_t pid) {
  // The system call sets close-on-exec by itself.
  UniqueFd fd(static_cast<int>(syscall(SYS_pidfd_open, pid, 0)));
  if (!fd.valid()) return ErrnoStatus("pidfd_open", absl::StrCat(pid));
  return fd;
}

bool PidfdHasExited(int pidfd) {
  pollfd event{pidfd, POLLIN, 0};
  return poll(&event, 1, 0) == 1 && (event.revents & (POLLIN | POLLHUP)) != 0;
}

}  // namespace mempulse
