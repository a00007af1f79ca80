#include "collectors/host/host.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>

#include <algorithm>
#include <array>
#include <memory>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "collectors/host/errno_status.h"

namespace mempulse {

Host::Host(std::string procfs, std::string sysfs) : procfs_(std::move(procfs)), sysfs_(std::move(sysfs)) {}

std::string Host::ProcPath(pid_t pid, absl::string_view name) const {
  return absl::StrCat(procfs_, "/", pid, "/", name);
}

absl::StatusOr<UniqueFd> Host::Open(const std::string& path, int flags) const {
  UniqueFd fd(open(path.c_str(), flags | O_CLOEXEC));
  if (!fd.valid()) return ErrnoStatus("open", path);
  return fd;
}

absl::StatusOr<std::string> Host::ReadFile(const std::string& path, size_t limit) const {
  absl::StatusOr<UniqueFd> fd = Open(path, O_RDONLY | O_NONBLOCK);
  if (!fd.ok()) return fd.status();
  std::string text;
  std::array<char, 16384> block;
  while (text.size() < limit) {
    const size_t want = std::min(block.size(), limit - text.size());
    const ssize_t got = read(fd->get(), block.data(), want);
    if (got < 0) {
      if (errno == EINTR) continue;
      return ErrnoStatus("read", path);
    }
    if (got == 0) break;
    text.append(block.data(), static_cast<size_t>(got));
  }
  return text;
}

absl::StatusOr<std::string> Host::ReadProcFile(pid_t pid, absl::string_view name, size_t limit) const {
  return ReadFile(ProcPath(pid, name), limit);
}

absl::StatusOr<std::string> Host::ReadLink(const std::string& path) const {
  std::array<char, PATH_MAX> target;
  const ssize_t length = readlink(path.c_str(), target.data(), target.size());
  if (length < 0) return ErrnoStatus("readlink", path);
  return std::string(target.data(), static_cast<size_t>(length));
}

absl::StatusOr<std::vector<pid_t>> Host::ListNumeric(absl::string_view folder) const {
  const std::string path = folder.empty() ? procfs_ : absl::StrCat(procfs_, "/", folder);
  const std::unique_ptr<DIR, int (*)(DIR*)> directory(opendir(path.c_str()), closedir);
  if (directory == nullptr) return ErrnoStatus("opendir", path);
  std::vector<pid_t> numbers;
  while (const dirent* entry = readdir(directory.get())) {
    int number = 0;
    if (absl::SimpleAtoi(entry->d_name, &number) && number > 0) numbers.push_back(number);
  }
  std::sort(numbers.begin(), numbers.end());
  return numbers;
}

}  // namespace mempulse
