#pragma once

#include <string>

namespace mempulse {

// What the running kernel has, by its version; every check of a guest starts from this table.
struct GuestKernel {
  std::string release;
  int major = 0;
  int minor = 0;

  bool AtLeast(int wanted_major, int wanted_minor) const {
    return major > wanted_major || (major == wanted_major && minor >= wanted_minor);
  }
  // userfaultfd's asynchronous write protection and the PAGEMAP_SCAN ioctl came together.
  bool has_wp_async() const { return AtLeast(6, 7); }
  bool scans_softdirty() const { return AtLeast(6, 10); }
};

GuestKernel ReadGuestKernel();

}  // namespace mempulse
