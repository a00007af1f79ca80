#include "collectors/pages/cooperative_socket.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "collectors/host/errno_status.h"

namespace mempulse {
namespace {

constexpr int kBacklog = 512;  // a target is never answered, so its offer waits here

absl::StatusOr<sockaddr_un> AddressOf(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.empty() || path.size() >= sizeof(address.sun_path)) {
    return absl::InvalidArgumentError(absl::StrCat("attach socket ", path, ": a socket's path has 1 to ",
                                                   sizeof(address.sun_path) - 1, " bytes"));
  }
  memcpy(address.sun_path, path.data(), path.size());
  return address;
}

UniqueFd NewSocket() { return UniqueFd(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)); }

bool SomebodyListens(const sockaddr_un& address) {
  const UniqueFd probe = NewSocket();
  return connect(probe.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0 ||
         errno != ECONNREFUSED;
}

// OK when the path is free afterwards.
absl::Status ClearPath(const std::string& path, const sockaddr_un& address) {
  struct stat there {};
  if (lstat(path.c_str(), &there) != 0) return absl::OkStatus();  // what else is wrong, bind will say
  if (!S_ISSOCK(there.st_mode)) {
    return absl::AlreadyExistsError(
        absl::StrCat("attach socket ", path, ": there is a file that is no socket"));
  }
  if (SomebodyListens(address)) {
    return absl::AlreadyExistsError(absl::StrCat("attach socket ", path, ": another process listens there"));
  }
  if (unlink(path.c_str()) != 0) return ErrnoStatus("unlink", path);
  return absl::OkStatus();
}

std::string FolderOf(const std::string& path) { return path.substr(0, path.find_last_of('/')); }

absl::Status BindTo(int fd, const std::string& path, const sockaddr_un& address) {
  if (bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0) return absl::OkStatus();
  const int error = errno;
  if (error == ENOENT) {
    return absl::NotFoundError(
        absl::StrCat("attach socket ", path, ": the folder ", FolderOf(path), " does not exist; create it"));
  }
  if (error == EACCES) {
    return absl::PermissionDeniedError(
        absl::StrCat("attach socket ", path, ": the folder ", FolderOf(path), " may not be written"));
  }
  return ErrnoStatus("bind", path, error);
}

}  // namespace

absl::StatusOr<OfferSocket> OfferSocket::Listen(const std::string& path) {
  const absl::StatusOr<sockaddr_un> address = AddressOf(path);
  if (!address.ok()) return address.status();
  if (absl::Status status = ClearPath(path, *address); !status.ok()) return status;
  UniqueFd fd = NewSocket();
  if (!fd.valid()) return ErrnoStatus("socket", path);
  fchmod(fd.get(), 0600);  // the file is made with this mode: nobody comes in too early
  if (absl::Status status = BindTo(fd.get(), path, *address); !status.ok()) return status;
  struct stat made {};
  if (lstat(path.c_str(), &made) != 0) return ErrnoStatus("stat", path);
  OfferSocket socket(path, std::move(fd), made.st_dev, made.st_ino);
  if (chmod(path.c_str(), geteuid() == 0 ? 0666 : 0600) != 0) return ErrnoStatus("chmod", path);
  if (listen(socket.fd(), kBacklog) != 0) return ErrnoStatus("listen", path);
  return socket;
}

OfferSocket::~OfferSocket() {
  if (!fd_.valid()) return;
  struct stat there {};
  const bool ours = lstat(path_.c_str(), &there) == 0 && there.st_dev == device_ && there.st_ino == inode_;
  if (ours) unlink(path_.c_str());
}

}  // namespace mempulse
