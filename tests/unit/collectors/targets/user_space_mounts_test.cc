#include "collectors/targets/user_space_mounts.h"

#include <gtest/gtest.h>

namespace mempulse {
namespace {

constexpr absl::string_view kMounts =
    "24 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw\n"
    "30 24 0:45 / /home/u/remote rw,nosuid - fuse.sshfs host: rw,user_id=1000\n"
    "31 24 0:46 / /var/tmp rw - tmpfs tmpfs rw\n"
    "short - fuse\n";

Mapping FileMapping(uint32_t device_minor, const std::string& name) {
  Mapping mapping;
  mapping.device_minor = device_minor;
  mapping.name = name;
  return mapping;
}

TEST(UserSpaceMountsTest, TellsByDeviceAndByPath) {
  EXPECT_TRUE(IsOnUserSpaceMount(kMounts, FileMapping(45, "/elsewhere")));
  EXPECT_TRUE(IsOnUserSpaceMount(kMounts, FileMapping(46, "/home/u/remote/lib.so")));
  EXPECT_FALSE(IsOnUserSpaceMount(kMounts, FileMapping(46, "/var/tmp/lib.so")));
  EXPECT_FALSE(IsOnUserSpaceMount(kMounts, FileMapping(46, "/home/u/remoteness")));
  EXPECT_FALSE(IsOnUserSpaceMount("", FileMapping(45, "/x")));
}

}  // namespace
}  // namespace mempulse
