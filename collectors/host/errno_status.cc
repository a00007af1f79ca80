#include "collectors/host/errno_status.h"

#include <string.h>

#include <string>

#include "absl/strings/str_cat.h"

namespace mempulse {
namespace {

absl::StatusCode CodeOf(int error) {
  switch (error) {
    case ENOENT:
    case ESRCH:
      return absl::StatusCode::kNotFound;
    case EPERM:
    case EACCES:
    case ENOSYS:
    case EINVAL:
    case ENOTTY:
    case EOPNOTSUPP:
      return absl::StatusCode::kUnavailable;
    case EMFILE:
    case ENFILE:
    case ENOMEM:
    case ENOSPC:
      return absl::StatusCode::kResourceExhausted;
    default:
      return absl::StatusCode::kInternal;
  }
}

}  // namespace

absl::Status ErrnoStatus(absl::string_view operation, absl::string_view subject, int error) {
  const char* name = strerrorname_np(error);
  const char* text = strerrordesc_np(error);
  return absl::Status(CodeOf(error),
                      absl::StrCat(operation, " ", subject, ": ", text != nullptr ? text : "unknown error",
                                   " (", name != nullptr ? name : std::to_string(error), ")"));
}

}  // namespace mempulse
