#include "collectors/host/privileges.h"

#include <sys/capability.h>
#include <sys/prctl.h>

#include <array>
#include <memory>

#include "collectors/host/capabilities.h"
#include "collectors/host/errno_status.h"

namespace mempulse {
namespace {

constexpr cap_value_t kCheckpointRestore = 40;
constexpr std::array<cap_value_t, 5> kNeeded = {CAP_SYS_PTRACE, CAP_DAC_READ_SEARCH, CAP_DAC_OVERRIDE,
                                                CAP_SYS_ADMIN, kCheckpointRestore};

struct CapFree {
  void operator()(void* caps) const { cap_free(caps); }
};
using Caps = std::unique_ptr<std::remove_pointer_t<cap_t>, CapFree>;

}  // namespace

absl::StatusOr<std::vector<std::string>> DropUnneededPrivileges() {
  const Caps now(cap_get_proc());
  const Caps kept(cap_init());
  if (now == nullptr || kept == nullptr) return ErrnoStatus("cap_get_proc", "self");
  std::vector<std::string> names;
  for (const cap_value_t value : kNeeded) {
    cap_flag_value_t held = CAP_CLEAR;
    if (cap_get_flag(now.get(), value, CAP_PERMITTED, &held) != 0 || held != CAP_SET) continue;
    const std::array<cap_value_t, 1> one = {value};
    cap_set_flag(kept.get(), CAP_PERMITTED, 1, one.data(), CAP_SET);
    cap_set_flag(kept.get(), CAP_EFFECTIVE, 1, one.data(), CAP_SET);
    names.push_back(CapabilityName(value));
  }
  if (cap_set_proc(kept.get()) != 0) return ErrnoStatus("cap_set_proc", "self");
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return ErrnoStatus("prctl", "PR_SET_NO_NEW_PRIVS");
  return names;
}

}  // namespace mempulse
