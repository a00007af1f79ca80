#include "collectors/targets/build_id.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "collectors/host/file_identity.h"
#include "collectors/targets/elf_build_id.h"
#include "collectors/targets/user_space_mounts.h"

namespace mempulse {
namespace {

constexpr size_t kReadLimit = 1 << 20;
constexpr size_t kNameLimit = 4000;  // leaves room for "PROCFS/PID/root" in a path

class BytesInMemory final : public ElfBytes {
 public:
  explicit BytesInMemory(absl::Span<const uint8_t> image) : image_(image) {}

  bool ReadAt(uint64_t offset, absl::Span<uint8_t> out) override {
    if (offset > image_.size() || out.size() > image_.size() - offset) return false;
    std::copy_n(image_.begin() + static_cast<ptrdiff_t>(offset), out.size(), out.begin());
    return true;
  }

 private:
  absl::Span<const uint8_t> image_;
};

// pread, never mmap: a file that its owner truncates meanwhile gives a short read instead of SIGBUS.
class BytesOfFile final : public ElfBytes {
 public:
  explicit BytesOfFile(int fd) : fd_(fd) {}

  bool ReadAt(uint64_t offset, absl::Span<uint8_t> out) override {
    if (out.size() > budget_) return false;
    budget_ -= out.size();
    while (!out.empty()) {
      const ssize_t got = pread(fd_, out.data(), out.size(), static_cast<off_t>(offset));
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) return false;
      out.remove_prefix(static_cast<size_t>(got));
      offset += static_cast<uint64_t>(got);
    }
    return true;
  }

 private:
  int fd_;
  size_t budget_ = kReadLimit;
};

// maps and stat number the devices of overlayfs and btrfs differently (one names the layer or the whole
// volume, the other an anonymous device of the mount), so a device with major 0 on either side leaves the
// decision to the inode. What a hostile target could gain is that the build id of another of its files is
// shown, and it can write any build id into its own files anyway; two real devices that differ are refused.
bool IsFileOf(const Mapping& mapping, const FileIdentity& file) {
  if (!file.regular || file.inode != mapping.inode) return false;
  if (file.device_major == 0 || mapping.device_major == 0) return true;
  return file.device_major == mapping.device_major && file.device_minor == mapping.device_minor;
}

// O_PATH opens nothing yet: no driver, fifo or lease notices before the file is known to be the mapping's.
absl::StatusOr<UniqueFd> OpenFileOf(const Host& host, const Mapping& mapping, const std::string& path,
                                    int flags) {
  const absl::StatusOr<UniqueFd> handle = host.Open(path, O_PATH | flags);
  if (!handle.ok()) return handle.status();
  const absl::StatusOr<FileIdentity> file = IdentifyDescriptor(handle->get(), path);
  if (!file.ok()) return file.status();
  if (!IsFileOf(mapping, *file)) {
    return absl::NotFoundError(absl::StrCat(path, " is not the mapped file"));
  }
  return host.Open(absl::StrCat("/proc/self/fd/", handle->get()), O_RDONLY | O_NONBLOCK | O_NOCTTY);
}

absl::StatusOr<UniqueFd> OpenByName(const Host& host, pid_t pid, const Mapping& mapping) {
  if (!absl::StartsWith(mapping.name, "/") || mapping.name.size() > kNameLimit) {
    return absl::NotFoundError("mapping has no name that can be opened");
  }
  const std::string path = host.ProcPath(pid, absl::StrCat("root", mapping.name));
  if (mapping.deleted) {
    // The file may be there, with " (deleted)" as a part of its name.
    absl::StatusOr<UniqueFd> file = OpenFileOf(host, mapping, absl::StrCat(path, " (deleted)"), O_NOFOLLOW);
    if (file.ok()) return file;
  }
  return OpenFileOf(host, mapping, path, O_NOFOLLOW);
}

absl::StatusOr<UniqueFd> OpenMappedFile(const Host& host, pid_t pid, const Mapping& mapping) {
  // A magic link: it leads to the file itself wherever that is, so it must be followed.
  const std::string link = absl::StrFormat("map_files/%x-%x", mapping.start, mapping.end);
  absl::StatusOr<UniqueFd> by_range = OpenFileOf(host, mapping, host.ProcPath(pid, link), 0);
  if (by_range.ok()) return by_range;
  absl::StatusOr<UniqueFd> by_name = OpenByName(host, pid, mapping);
  if (by_name.ok()) return by_name;
  const std::string reason = absl::StrCat(by_range.status().message(), "; ", by_name.status().message());
  if (absl::IsNotFound(by_name.status())) return absl::NotFoundError(reason);
  return absl::UnavailableError(reason);
}

}  // namespace

absl::StatusOr<std::string> BuildIdOfElf(absl::Span<const uint8_t> image) {
  BytesInMemory bytes(image);
  return FindElfBuildId(&bytes);
}

absl::StatusOr<std::string> ReadBuildId(const Host& host, pid_t pid, const Mapping& mapping) {
  if (mapping.inode == 0) return absl::NotFoundError("mapping has no file");
  const absl::StatusOr<std::string> mounts = host.ReadProcFile(pid, "mountinfo");
  if (mounts.ok() && IsOnUserSpaceMount(*mounts, mapping)) {
    return absl::UnavailableError("mapped file is on a FUSE file system, which may never answer");
  }
  const absl::StatusOr<UniqueFd> file = OpenMappedFile(host, pid, mapping);
  if (!file.ok()) return file.status();
  BytesOfFile bytes(file->get());
  return FindElfBuildId(&bytes);
}

}  // namespace mempulse
