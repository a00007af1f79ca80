#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

// Files that are there as a whole or not at all, whatever happens while they are written.
namespace mempulse {

// The system calls of a save, so that a test can let each of them fail or end the process. Each returns as
// the call of that name does: -1 and errno.
struct FileCalls {
  std::function<int(const char* path, int flags, unsigned mode)> open;
  std::function<long(int fd, const void* bytes, size_t size)> write;
  std::function<int(int fd)> fsync;
  std::function<int(int fd)> close;
  std::function<int(const char* from, const char* to)> rename;
  std::function<int(const char* path)> unlink;
};
FileCalls SystemFileCalls();

// Writes PATH.new, makes it durable, keeps what was at PATH as PATH.previous, and renames. After a crash at
// any point PATH or else PATH.previous holds all of the last or of this save. On an error what was saved
// before is untouched; the message names the path and the call. Mode 0600.
absl::Status SaveWholeFile(const FileCalls& calls, const std::string& path, absl::string_view bytes);

// A regular file of at most `limit` bytes; does not follow a symbolic link in the last part of the path,
// never blocks. NotFound when there is none; InvalidArgument when it is larger or no regular file.
absl::StatusOr<std::string> ReadWholeFile(const std::string& path, uint64_t limit);

}  // namespace mempulse
