#pragma once

#include <cstdint>
#include <string>

#include "collectors/host/host.h"
#include "collectors/targets/process_stat.h"

namespace mempulse {

// What an exec replaces, as far as it is shown to us; 0 or empty is "not shown".
struct ExecutionMarks {
  uint64_t start_code = 0;
  uint64_t end_code = 0;
  uint64_t start_stack = 0;
  std::string
      auxiliary_vector;  // raw: entry point, addresses of the interpreter, the random bytes, the vdso ...
  uint32_t exe_device_major = 0;
  uint32_t exe_device_minor = 0;
  uint64_t exe_inode = 0;
  bool forked_without_exec = false;
};

// Never fails: what cannot be read is not shown.
ExecutionMarks ReadExecutionMarks(const Host& host, const ProcessStat& stat);

// Whether an exec lies between the two, judged by what both show. With address randomisation off, an exec of
// the same binary with the same arguments may leave every mark alike.
bool ShowExec(const ExecutionMarks& before, const ExecutionMarks& after);

}  // namespace mempulse
