#include "tests/kernels/guest_kernel.h"

#include <sys/utsname.h>

#include <cstdio>

namespace mempulse {

GuestKernel ReadGuestKernel() {
  utsname names{};
  GuestKernel kernel;
  if (uname(&names) != 0) return kernel;
  kernel.release = names.release;
  std::sscanf(names.release, "%d.%d", &kernel.major, &kernel.minor);
  return kernel;
}

}  // namespace mempulse
