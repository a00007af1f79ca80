#pragma once

#include <cstdint>
#include <optional>

#include "absl/status/statusor.h"
#include "collectors/host/host.h"
#include "collectors/host/kernel_facts.h"
#include "collectors/targets/target.h"

namespace mempulse {

// What trying to use a target answered: 0 or the errno of each attempt.
struct AccessErrors {
  int maps = 0;
  int smaps = 0;
  int pagemap = 0;
  int mem = 0;
  int clear_refs = 0;
  // The permission that ptrace needs, asked of pidfd_getfd without stopping anything; EPERM also when ptrace
  // is denied to us altogether.
  int attach = 0;
};

// Everything that decides what we may do with one target. A plain value: tests make their own.
struct TargetAccess {
  ProcessSecurity own;
  ProcessSecurity target;
  std::optional<int> yama_scope;
  AccessErrors errors;
  bool gone = false;
  bool not_dumpable = false;   // its /proc files belong to root although it does not run as root
  bool is_descendant = false;  // of this process: Yama's scope 1 lets us trace it
  bool is_32_bit = false;
  bool foreign_soft_dirty = false;        // another soft-dirty tracker of mempulse is open on it
  bool foreign_write_protection = false;  // a userfaultfd that is not ours protects its memory already
  bool frames_visible = false;            // pagemap shows page frame numbers
  bool other_user_namespace = false;      // than ours
  bool initial_user_namespace = true;     // ours is: capabilities in it reach every other
  // A seccomp filter of our own refuses the call itself, whoever the target is.
  bool own_filter_denies_ptrace = false;
  bool own_filter_denies_pidfd_getfd = false;
};

// Whether the permission to trace is asked for. Where nothing will be traced it is not: a seccomp filter of
// our own may kill at the very question. errors.attach then stays 0.
enum class TraceQuestion { kAsked, kLeftAlone };

// Opens the files of the target for reading (clear_refs for writing, nothing is written) and asks for the
// ptrace permission. Never stops or changes the target. Unavailable when our own status cannot be read; a
// target that is gone sets `gone`.
absl::StatusOr<TargetAccess> ReadTargetAccess(const Host& host, const Target& target,
                                              TraceQuestion trace = TraceQuestion::kAsked);

}  // namespace mempulse
