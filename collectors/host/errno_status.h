#pragma once

#include <cerrno>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace mempulse {

// Turns errno into a status on the line that failed: `if (fd.get() < 0) return ErrnoStatus("open", path);`
// NotFound: the target is gone (ENOENT, ESRCH), a normal event. Unavailable: this kernel or permission cannot
// (EPERM, EACCES, ENOSYS, EINVAL, ENOTTY, EOPNOTSUPP), so the mechanism is off with a reason.
// ResourceExhausted: EMFILE, ENFILE, ENOMEM, ENOSPC. Anything else is Internal: a failed round. The text
// reads "OPERATION SUBJECT: strerror (ENAME)". Thread-safe.
absl::Status ErrnoStatus(absl::string_view operation, absl::string_view subject, int error = errno);

}  // namespace mempulse
