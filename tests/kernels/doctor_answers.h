#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "tests/kernels/condition.h"
#include "tests/kernels/staged_process.h"

namespace mempulse {

struct Answer {
  std::string verdict;  // "yes" or the reason
  std::string detail;
  std::string remedy;
};

// One `mempulsectl doctor --json PID`.
struct Diagnosis {
  nlohmann::json json;
  std::map<std::string, Answer> cells;  // of the target
  std::map<std::string, Answer> own;    // mechanisms on its own memory
};

// What doctor says under each condition. An emulated processor takes its time: a condition that several
// remedies lead to is asked once, and those that want the same settings are asked together.
class Doctors {
 public:
  void AskAll(std::vector<Condition> conditions);
  // Null where the condition could not be made.
  const Diagnosis* Of(const Condition& condition) const;

 private:
  using Running = std::vector<std::pair<std::string, StagedProgram>>;
  void Collect(Running* running);

  std::map<std::string, Diagnosis> known_;
};

}  // namespace mempulse
