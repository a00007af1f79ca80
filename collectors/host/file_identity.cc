#include "collectors/host/file_identity.h"

#include <fcntl.h>
#include <sys/stat.h>

#include "collectors/host/errno_status.h"

namespace mempulse {
namespace {

absl::StatusOr<FileIdentity> Identify(int folder, const char* path, int flags, absl::string_view name) {
  struct statx found {};
  if (statx(folder, path, flags | AT_STATX_DONT_SYNC, STATX_BASIC_STATS, &found) != 0) {
    return ErrnoStatus("statx", name);
  }
  FileIdentity identity;
  identity.device_major = found.stx_dev_major;
  identity.device_minor = found.stx_dev_minor;
  identity.inode = found.stx_ino;
  identity.size = found.stx_size;
  identity.regular = S_ISREG(found.stx_mode);
  identity.writable_by_all = (found.stx_mode & S_IWOTH) != 0;
  return identity;
}

}  // namespace

absl::StatusOr<FileIdentity> IdentifyDescriptor(int fd, absl::string_view name) {
  return Identify(fd, "", AT_EMPTY_PATH, name);
}

absl::StatusOr<FileIdentity> IdentifyPath(const std::string& path) {
  return Identify(AT_FDCWD, path.c_str(), 0, path);
}

}  // namespace mempulse
