#include "collectors/targets/process_view.h"

#include <algorithm>

#include "absl/status/statusor.h"
#include "collectors/targets/process_facts.h"

namespace mempulse {

const std::string& ProcessView::exe() {
  if (!exe_.has_value()) {
    const absl::StatusOr<std::string> exe = ReadExecutable(*host_, stat_.id.pid);
    exe_refused_ = absl::IsUnavailable(exe.status());
    exe_ = exe.value_or("");
  }
  return *exe_;
}

const std::string& ProcessView::command_line() {
  if (!command_line_.has_value()) {
    command_line_ = ReadCommandLine(*host_, stat_.id.pid).value_or("");
    std::replace(command_line_->begin(), command_line_->end(), '\0', ' ');
  }
  return *command_line_;
}

const std::string& ProcessView::cgroup() {
  if (!cgroup_.has_value()) cgroup_ = ReadCgroup(*host_, stat_.id.pid).value_or("");
  return *cgroup_;
}

}  // namespace mempulse
