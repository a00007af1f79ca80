#pragma once

#include <cerrno>
#include <initializer_list>

#include "collectors/pages/tracker_access.h"

// The situations of docs/operations' access table as facts, with the errno that the kernel was seen to
// answer.
namespace mempulse {

inline ProcessSecurity User(uint32_t uid, std::initializer_list<Capability> capabilities = {}) {
  ProcessSecurity user;
  user.uids = {uid, uid, uid, uid};
  user.gids = {uid, uid, uid, uid};
  user.effective = user.permitted = CapabilitySet::Of(capabilities);
  return user;
}

inline TargetAccess SameUserNoCapabilities() {
  TargetAccess access;
  access.own = access.target = User(999);
  access.own.no_new_privileges = true;
  return access;
}

inline TargetAccess OtherUserNoCapabilities() {
  TargetAccess access;
  access.own = User(65534);
  access.target = User(999);
  access.errors = {EACCES, EACCES, EACCES, EACCES, EACCES, EPERM};
  return access;
}

inline TargetAccess OtherUserTraceOnly() {
  TargetAccess access;
  access.own = User(65534, {Capability::kSysPtrace});
  access.target = User(999);
  access.errors = {.pagemap = EACCES, .mem = EACCES, .clear_refs = EACCES};
  return access;
}

inline TargetAccess OtherUserTraceAndRead() {
  TargetAccess access = OtherUserTraceOnly();
  access.own = User(65534, {Capability::kSysPtrace, Capability::kDacReadSearch});
  access.errors = {.clear_refs = EACCES};
  return access;
}

inline TargetAccess OtherUserTraceAndOverride() {
  TargetAccess access = OtherUserTraceOnly();
  access.own = User(65534, {Capability::kSysPtrace, Capability::kDacOverride});
  access.errors = {};
  return access;
}

inline TargetAccess OtherUserAdmin() {
  TargetAccess access = OtherUserTraceAndOverride();
  access.own = User(65534, {Capability::kSysPtrace, Capability::kDacOverride, Capability::kSysAdmin});
  access.frames_visible = true;
  return access;
}

inline TargetAccess NotDumpable() {
  TargetAccess access = SameUserNoCapabilities();
  access.not_dumpable = true;
  access.errors = {EACCES, EACCES, EACCES, EACCES, EACCES, EPERM};
  return access;
}

// Same user without capabilities under Yama: only what asks to attach is refused.
inline TargetAccess Yama(int scope) {
  TargetAccess access = SameUserNoCapabilities();
  access.yama_scope = scope;
  if (scope > 0) access.errors = {.mem = EACCES, .attach = EPERM};
  return access;
}

inline TargetAccess RootUnderYama(int scope) {
  TargetAccess access;
  access.own = User(0, {Capability::kSysPtrace, Capability::kDacOverride, Capability::kSysAdmin});
  access.target = User(999);
  access.yama_scope = scope;
  if (scope >= 3) access.errors = {.mem = EACCES, .attach = EPERM};
  return access;
}

// Both in containers of one pod under the engine's default profile.
inline TargetAccess DefaultSeccomp() {
  TargetAccess access = SameUserNoCapabilities();
  access.own.seccomp_mode = access.target.seccomp_mode = 2;
  return access;
}

}  // namespace mempulse
