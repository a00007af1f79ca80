#include "collectors/targets/pid_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "collectors/host/errno_status.h"
#include "collectors/host/file_identity.h"

namespace mempulse {

absl::StatusOr<pid_t> ReadPidFile(const Host& host, const std::string& path) {
  const absl::StatusOr<UniqueFd> fd = host.Open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW);
  if (!fd.ok()) return fd.status();
  const absl::StatusOr<FileIdentity> file = IdentifyDescriptor(fd->get(), path);
  if (!file.ok()) return file.status();
  if (!file->regular) return absl::InvalidArgumentError(absl::StrCat(path, " is no regular file"));
  if (file->writable_by_all)
    return absl::InvalidArgumentError(absl::StrCat(path, " is writable by everybody"));

  std::array<char, 64> text{};
  const ssize_t length = pread(fd->get(), text.data(), text.size(), 0);
  if (length < 0) return ErrnoStatus("read", path);
  absl::string_view line(text.data(), static_cast<size_t>(length));
  line = absl::StripAsciiWhitespace(line.substr(0, line.find('\n')));
  const bool digits = line.find_first_not_of("0123456789") == absl::string_view::npos;
  pid_t pid = 0;
  if (!digits || !absl::SimpleAtoi(line, &pid) || pid <= 0) {
    return absl::InvalidArgumentError(absl::StrCat(path, " holds no process number"));
  }
  return pid;
}

}  // namespace mempulse
