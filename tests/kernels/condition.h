#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tests/kernels/container_filter.h"

namespace mempulse {

// Who a process is. A plain value.
struct Role {
  uint32_t uid = 0;
  uint32_t gid = 0;
  uint64_t capabilities = 0;  // all that it has and can ever have
  ContainerFilter filter = ContainerFilter::kNone;
  std::vector<int> allowed_calls;   // of those that the filter would refuse
  bool own_user_namespace = false;  // uid 0 there
};

enum class OtherUserfaultfd { kNone, kProtects, kServesMissing };

// An exporter, a target, and what the kernel is set to.
struct Condition {
  Role exporter;
  Role target;
  bool target_is_child = false;  // of the exporter
  bool target_dumpable = true;
  bool target_traced = false;   // by a debugger
  bool target_claimed = false;  // by another mempulse that clears its soft-dirty bits
  OtherUserfaultfd userfaultfd = OtherUserfaultfd::kNone;
  int yama_scope = 0;
  int perf_event_paranoid = 3;
};

inline constexpr uint32_t kTargetUser = 1000;
inline constexpr uint32_t kOtherUser = 1001;
uint64_t AllCapabilities();

// The words of permissions.tsv (its head explains them); empty, or what is wrong with them.
std::string ParseExporter(const std::string& words, Condition* condition);
std::string ParseTarget(const std::string& words, Condition* condition);
std::string ParseSettings(const std::string& words, Condition* condition);

// Every field, for comparison.
std::string ConditionText(const Condition& condition);

// "SYS_PTRACE" or "CAP_SYS_PTRACE" as a bit; 0 for an unknown name.
uint64_t CapabilityBit(const std::string& name);

}  // namespace mempulse
