#pragma once

#include <sys/types.h>

#include <functional>
#include <string>
#include <vector>

#include "tests/kernels/condition.h"

namespace mempulse {

// What a program that was run said.
struct ProgramEnd {
  int status = -1;  // exit status; -1 when it did not come to an end by itself
  std::string output;
  std::string errors;
};

// Sets what the kernel's settings should be; false when one of them cannot be (Yama's scope 3 is for ever).
bool ApplySettings(const Condition& condition);

struct Offspring;

// A program that runs as the exporter of a condition whose target was started for it. Needs root; fails the
// whole run where the condition cannot be made. Move-only.
class StagedProgram {
 public:
  // `arguments` makes the program's words, the first one its path, from the target's pid.
  StagedProgram(const Condition& condition,
                const std::function<std::vector<std::string>(pid_t target)>& arguments);
  StagedProgram(StagedProgram&& other) noexcept;
  StagedProgram& operator=(StagedProgram&&) = delete;
  ~StagedProgram();

  // Its end, and the target's. Once.
  ProgramEnd Wait();

 private:
  Offspring* offspring_;  // in memory that all of them share
  pid_t exporter_ = 0;
  int output_ = -1;
  int errors_ = -1;
};

}  // namespace mempulse
