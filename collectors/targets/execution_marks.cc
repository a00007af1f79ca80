#include "collectors/targets/execution_marks.h"

#include "absl/status/statusor.h"
#include "collectors/host/file_identity.h"

namespace mempulse {
namespace {

constexpr size_t kAuxiliaryVectorLimit = 4096;

bool Differ(uint64_t before, uint64_t after) { return before != 0 && after != 0 && before != after; }

}  // namespace

ExecutionMarks ReadExecutionMarks(const Host& host, const ProcessStat& stat) {
  ExecutionMarks marks;
  marks.start_code = stat.start_code;
  marks.end_code = stat.end_code;
  marks.start_stack = stat.start_stack;
  marks.forked_without_exec = stat.forked_without_exec;
  absl::StatusOr<std::string> vector = host.ReadProcFile(stat.id.pid, "auxv", kAuxiliaryVectorLimit);
  if (vector.ok()) marks.auxiliary_vector = *std::move(vector);
  // Not the link's text: renaming or replacing the file of a running program changes that.
  const absl::StatusOr<FileIdentity> exe = IdentifyPath(host.ProcPath(stat.id.pid, "exe"));
  if (exe.ok()) {
    marks.exe_device_major = exe->device_major;
    marks.exe_device_minor = exe->device_minor;
    marks.exe_inode = exe->inode;
  }
  return marks;
}

bool ShowExec(const ExecutionMarks& before, const ExecutionMarks& after) {
  const bool both_vectors = !before.auxiliary_vector.empty() && !after.auxiliary_vector.empty();
  const bool both_files = before.exe_inode != 0 && after.exe_inode != 0;
  return Differ(before.start_code, after.start_code) || Differ(before.end_code, after.end_code) ||
         Differ(before.start_stack, after.start_stack) ||
         (both_vectors && before.auxiliary_vector != after.auxiliary_vector) ||
         (both_files &&
          (before.exe_inode != after.exe_inode || before.exe_device_major != after.exe_device_major ||
           before.exe_device_minor != after.exe_device_minor)) ||
         (before.forked_without_exec && !after.forked_without_exec);
}

}  // namespace mempulse
