#include "collectors/host/capabilities.h"

#include <array>
#include <charconv>

#include "absl/strings/str_cat.h"

namespace mempulse {
namespace {

constexpr std::array<const char*, 41> kNames = {"CHOWN",
                                                "DAC_OVERRIDE",
                                                "DAC_READ_SEARCH",
                                                "FOWNER",
                                                "FSETID",
                                                "KILL",
                                                "SETGID",
                                                "SETUID",
                                                "SETPCAP",
                                                "LINUX_IMMUTABLE",
                                                "NET_BIND_SERVICE",
                                                "NET_BROADCAST",
                                                "NET_ADMIN",
                                                "NET_RAW",
                                                "IPC_LOCK",
                                                "IPC_OWNER",
                                                "SYS_MODULE",
                                                "SYS_RAWIO",
                                                "SYS_CHROOT",
                                                "SYS_PTRACE",
                                                "SYS_PACCT",
                                                "SYS_ADMIN",
                                                "SYS_BOOT",
                                                "SYS_NICE",
                                                "SYS_RESOURCE",
                                                "SYS_TIME",
                                                "SYS_TTY_CONFIG",
                                                "MKNOD",
                                                "LEASE",
                                                "AUDIT_WRITE",
                                                "AUDIT_CONTROL",
                                                "SETFCAP",
                                                "MAC_OVERRIDE",
                                                "MAC_ADMIN",
                                                "SYSLOG",
                                                "WAKE_ALARM",
                                                "BLOCK_SUSPEND",
                                                "AUDIT_READ",
                                                "PERFMON",
                                                "BPF",
                                                "CHECKPOINT_RESTORE"};

}  // namespace

std::string CapabilityName(int number) {
  if (number < 0 || static_cast<size_t>(number) >= kNames.size()) return absl::StrCat("CAP_", number);
  return absl::StrCat("CAP_", kNames[static_cast<size_t>(number)]);
}

CapabilitySet CapabilitySet::Of(std::initializer_list<Capability> capabilities) {
  uint64_t bits = 0;
  for (const Capability capability : capabilities) bits |= uint64_t{1} << static_cast<int>(capability);
  return CapabilitySet(bits);
}

std::vector<std::string> CapabilitySet::Names() const {
  std::vector<std::string> names;
  for (int number = 0; number < 64; ++number) {
    if ((bits_ >> number & 1) != 0) names.push_back(CapabilityName(number));
  }
  return names;
}

bool ParseCapabilitySet(absl::string_view hex, CapabilitySet* set) {
  uint64_t bits = 0;
  const char* end = hex.data() + hex.size();
  const auto [stop, error] = std::from_chars(hex.data(), end, bits, 16);
  if (hex.empty() || error != std::errc() || stop != end) return false;
  *set = CapabilitySet(bits);
  return true;
}

}  // namespace mempulse
