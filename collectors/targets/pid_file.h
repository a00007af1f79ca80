#pragma once

#include <sys/types.h>

#include <string>

#include "absl/status/statusor.h"
#include "collectors/host/host.h"

namespace mempulse {

// The process number on the first line of a pid file; later lines (PostgreSQL writes some) are ignored. The
// file must be a regular one, no symbolic link, and not writable by everybody. The error never quotes what
// the file holds.
absl::StatusOr<pid_t> ReadPidFile(const Host& host, const std::string& path);

}  // namespace mempulse
