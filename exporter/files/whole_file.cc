#include "exporter/files/whole_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <utility>

#include "absl/strings/str_cat.h"
#include "collectors/host/errno_status.h"
#include "collectors/host/file_identity.h"
#include "collectors/host/unique_fd.h"

namespace mempulse {
namespace {

std::string FolderOf(const std::string& path) {
  const size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

// Closes through the calls of the save, whatever way it ends.
class SavedFd {
 public:
  SavedFd(const FileCalls& calls, int fd) : calls_(calls), fd_(fd) {}
  SavedFd(const SavedFd&) = delete;
  SavedFd& operator=(const SavedFd&) = delete;
  ~SavedFd() {
    if (fd_ >= 0) calls_.close(fd_);
  }
  int get() const { return fd_; }
  int Close() { return calls_.close(std::exchange(fd_, -1)); }

 private:
  const FileCalls& calls_;
  int fd_;
};

absl::Status WriteAll(const FileCalls& calls, int fd, const std::string& path, absl::string_view bytes) {
  while (!bytes.empty()) {
    const long written = calls.write(fd, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return ErrnoStatus("write", path);
    if (written == 0) return absl::DataLossError(absl::StrCat("write ", path, ": nothing was taken"));
    bytes.remove_prefix(static_cast<size_t>(written));
  }
  return absl::OkStatus();
}

absl::Status WriteNew(const FileCalls& calls, const std::string& path, absl::string_view bytes) {
  SavedFd file(calls, calls.open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (file.get() < 0) return ErrnoStatus("open for writing", path);
  if (absl::Status status = WriteAll(calls, file.get(), path, bytes); !status.ok()) return status;
  if (calls.fsync(file.get()) != 0) return ErrnoStatus("fsync", path);
  if (file.Close() != 0) return ErrnoStatus("close", path);
  return absl::OkStatus();
}

// Renames are durable once their folder is.
absl::Status SyncFolder(const FileCalls& calls, const std::string& folder) {
  SavedFd file(calls, calls.open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0));
  if (file.get() < 0) return ErrnoStatus("open", folder);
  if (calls.fsync(file.get()) != 0) return ErrnoStatus("fsync", folder);
  return absl::OkStatus();
}

}  // namespace

FileCalls SystemFileCalls() {
  return {[](const char* path, int flags, unsigned mode) { return ::open(path, flags, mode); },
          [](int fd, const void* bytes, size_t size) { return static_cast<long>(::write(fd, bytes, size)); },
          [](int fd) { return ::fsync(fd); },
          [](int fd) { return ::close(fd); },
          [](const char* from, const char* to) { return ::rename(from, to); },
          [](const char* path) { return ::unlink(path); }};
}

absl::Status SaveWholeFile(const FileCalls& calls, const std::string& path, absl::string_view bytes) {
  const std::string fresh = path + ".new";
  const std::string previous = path + ".previous";
  if (absl::Status status = WriteNew(calls, fresh, bytes); !status.ok()) {
    calls.unlink(fresh.c_str());
    return status;
  }
  const bool kept = calls.rename(path.c_str(), previous.c_str()) == 0;
  if (!kept && errno != ENOENT) return ErrnoStatus("rename", path);
  if (calls.rename(fresh.c_str(), path.c_str()) != 0) {
    const absl::Status status = ErrnoStatus("rename", fresh);
    if (kept) calls.rename(previous.c_str(), path.c_str());
    return status;
  }
  return SyncFolder(calls, FolderOf(path));
}

absl::StatusOr<std::string> ReadWholeFile(const std::string& path, uint64_t limit) {
  const UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (file.get() < 0) return ErrnoStatus("open", path);
  const absl::StatusOr<FileIdentity> identity = IdentifyDescriptor(file.get(), path);
  if (!identity.ok()) return identity.status();
  if (!identity->regular) return absl::InvalidArgumentError(absl::StrCat(path, ": no regular file"));
  std::string bytes;
  std::string step(size_t{1} << 16, '\0');
  for (;;) {
    const ssize_t got = ::read(file.get(), step.data(), step.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return ErrnoStatus("read", path);
    if (got == 0) return bytes;
    bytes.append(step.data(), static_cast<size_t>(got));
    if (bytes.size() > limit) {
      return absl::InvalidArgumentError(absl::StrCat(path, ": larger than ", limit, " bytes"));
    }
  }
}

}  // namespace mempulse
