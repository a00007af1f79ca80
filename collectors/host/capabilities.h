#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace mempulse {

// The capabilities a mechanism of ours may need, by their kernel numbers.
enum class Capability : int {
  kDacOverride = 1,
  kDacReadSearch = 2,
  kSysPtrace = 19,
  kSysAdmin = 21,
  kPerfmon = 38,
  kBpf = 39,
};

// "CAP_SYS_PTRACE". A number this list does not know reads "CAP_41".
std::string CapabilityName(int number);
inline std::string CapabilityName(Capability capability) {
  return CapabilityName(static_cast<int>(capability));
}

// One of the sets of /proc/PID/status. A plain value.
class CapabilitySet {
 public:
  CapabilitySet() = default;
  explicit CapabilitySet(uint64_t bits) : bits_(bits) {}
  static CapabilitySet Of(std::initializer_list<Capability> capabilities);

  uint64_t bits() const { return bits_; }
  bool empty() const { return bits_ == 0; }
  bool Has(Capability capability) const { return (bits_ >> static_cast<int>(capability) & 1) != 0; }
  bool Contains(const CapabilitySet& other) const { return (other.bits_ & ~bits_) == 0; }
  std::vector<std::string> Names() const;  // ascending by number

  friend bool operator==(const CapabilitySet& a, const CapabilitySet& b) { return a.bits_ == b.bits_; }

 private:
  uint64_t bits_ = 0;
};

// Sixteen hexadecimal digits as in "CapEff:"; false when the text is something else.
bool ParseCapabilitySet(absl::string_view hex, CapabilitySet* set);

}  // namespace mempulse
