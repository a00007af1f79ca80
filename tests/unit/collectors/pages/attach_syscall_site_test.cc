#include "collectors/pages/attach_syscall_site.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <vector>

namespace mempulse {
namespace {

TEST(AttachSyscallSiteTest, FindsTheTwoBytesAtAnyOffset) {
  EXPECT_EQ(FindSyscallBytes({}), -1);
  const std::vector<uint8_t> half = {0x90, 0x0f};
  EXPECT_EQ(FindSyscallBytes(half), -1);
  const std::vector<uint8_t> code = {0x0f, 0x0f, 0x05, 0xc3};
  EXPECT_EQ(FindSyscallBytes(code), 1);
}

TEST(AttachSyscallSiteTest, FindsOneInThisProcess) {
  const Host host;
  bool truncated = false;
  const absl::StatusOr<std::vector<Mapping>> mappings = ReadMappings(host, getpid(), &truncated);
  ASSERT_TRUE(mappings.ok());
  const absl::StatusOr<uint64_t> site = FindSyscallInstruction(host, getpid(), *mappings);
  ASSERT_TRUE(site.ok()) << site.status();
  ASSERT_NE(*site, 0u);
  EXPECT_EQ(memcmp(reinterpret_cast<const void*>(*site), "\x0f\x05", 2), 0);
  const Mapping* mapping = FindMapping(*mappings, *site);
  ASSERT_NE(mapping, nullptr);
  EXPECT_TRUE(mapping->executable);
}

TEST(AttachSyscallSiteTest, NoneWhereNothingIsExecutable) {
  Mapping data;
  data.start = 0x1000;
  data.end = 0x2000;
  data.readable = data.writable = true;
  const absl::StatusOr<uint64_t> site = FindSyscallInstruction(Host(), getpid(), {&data, 1});
  ASSERT_TRUE(site.ok());
  EXPECT_EQ(*site, 0u);
}

}  // namespace
}  // namespace mempulse
