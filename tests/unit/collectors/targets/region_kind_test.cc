#include "collectors/targets/region_kind.h"

#include <gtest/gtest.h>

#include "collectors/targets/classify_mapping.h"

namespace mempulse {
namespace {

TEST(RegionKindTest, NamesAreReadBackAsTheirKind) {
  for (RegionKind kind : kAllRegionKinds) {
    RegionKind parsed = RegionKind::kOther;
    EXPECT_TRUE(ParseRegionKind(RegionKindName(kind), &parsed));
    EXPECT_EQ(parsed, kind);
  }
  RegionKind untouched = RegionKind::kHeap;
  EXPECT_FALSE(ParseRegionKind("text", &untouched));
  EXPECT_EQ(untouched, RegionKind::kHeap);
}

struct Case {
  const char* permissions;
  const char* name;
  bool deleted;
  uint32_t device_major;
  RegionKind kind;
};

// Names as the kernel prints them on x86-64 and arm64, and on both sides of every rule.
constexpr Case kCases[] = {
    {"rw-p", "", false, 0, RegionKind::kAnon},
    {"---p", "", false, 0, RegionKind::kAnon},
    {"rwxp", "", false, 0, RegionKind::kJit},
    {"r-xp", "", false, 0, RegionKind::kJit},
    {"rw-p", "[heap]", false, 0, RegionKind::kHeap},
    {"rwxp", "[heap]", false, 0, RegionKind::kHeap},
    {"rw-p", "[stack]", false, 0, RegionKind::kStack},
    {"rwxp", "[stack]", false, 0, RegionKind::kStack},
    {"rw-p", "[stack:1234]", false, 0, RegionKind::kStack},
    {"r-xp", "[vdso]", false, 0, RegionKind::kOther},
    {"r--p", "[vvar]", false, 0, RegionKind::kOther},
    {"r--p", "[vvar_vclock]", false, 0, RegionKind::kOther},
    {"--xp", "[vsyscall]", false, 0, RegionKind::kOther},
    {"r-xp", "[uprobes]", false, 0, RegionKind::kOther},
    {"rw-p", "[anon: glibc: malloc]", false, 0, RegionKind::kAnon},
    {"rw-p", "[anon:[heap]]", false, 0, RegionKind::kAnon},
    {"r-xp", "[anon:v8]", false, 0, RegionKind::kJit},
    {"rw-s", "[anon_shmem:cache]", false, 0, RegionKind::kShared},
    {"rw-s", "/memfd:wl_shm", true, 0, RegionKind::kShared},
    {"rw-p", "/memfd:wl_shm", true, 0, RegionKind::kShared},
    {"r-xs", "/memfd:doublemapper", true, 0, RegionKind::kJit},
    {"rw-s", "/memfd:a file of that name", false, 8, RegionKind::kFileData},
    {"rw-s", "/dev/zero", true, 0, RegionKind::kShared},
    {"rw-p", "/dev/zero", false, 0, RegionKind::kAnon},
    {"rwxp", "/dev/zero", false, 0, RegionKind::kJit},
    {"rw-s", "/SYSV00000000", true, 0, RegionKind::kShared},
    {"rw-s", "/SYSVdeadbeef", true, 0, RegionKind::kShared},
    {"rw-p", "/anon_hugepage", true, 0, RegionKind::kAnon},
    {"rw-s", "/anon_hugepage", true, 0, RegionKind::kShared},
    {"rw-s", "/secretmem", true, 0, RegionKind::kShared},
    {"rw-s", "/[aio]", true, 0, RegionKind::kOther},
    {"rw-s", "/i915", true, 0, RegionKind::kDevice},
    {"rw-s", "/drm mm object", true, 0, RegionKind::kDevice},
    {"rw-s", "/dmabuf:buffer", false, 0, RegionKind::kDevice},
    {"rw-s", "/dev/shm/pg.1", false, 0, RegionKind::kShared},
    {"rw-s", "/dev/hugepages/rtemap_0", false, 0, RegionKind::kShared},
    {"rw-s", "/dev/nvidia0", false, 0, RegionKind::kDevice},
    {"rw-s", "/dev/dri/renderD128", false, 0, RegionKind::kDevice},
    {"rw-s", "/dev/kvm", false, 0, RegionKind::kDevice},
    {"rw-s", "/sys/devices/pci0000:00/0000:00:03.0/resource0", false, 0, RegionKind::kDevice},
    {"rw-s", "/proc/bus/pci/00/03.0", false, 0, RegionKind::kDevice},
    {"rw-s", "anon_inode:[io_uring]", false, 0, RegionKind::kDevice},
    {"rw-s", "anon_inode:kvm-vcpu:0", false, 0, RegionKind::kDevice},
    {"rw-s", "socket:[12345]", false, 0, RegionKind::kDevice},
    {"r--p", "/usr/bin/cat", false, 254, RegionKind::kFileData},
    {"r-xp", "/usr/bin/cat", false, 254, RegionKind::kFileText},
    {"rw-p", "/usr/bin/cat", false, 0, RegionKind::kFileData},
    {"r-xp", "/usr/lib/libc.so.6", true, 254, RegionKind::kFileText},
    {"rw-s", "/var/lib/db/data", true, 254, RegionKind::kFileData},
    {"rw-s", "/tmp/.shm_1", true, 0, RegionKind::kShared},
    {"rw-p", "/tmp/.shm_1", true, 0, RegionKind::kFileData},
    {"r-xs", "/tmp/plugin.so", true, 0, RegionKind::kFileText},
    {"rw-p", "something new", false, 0, RegionKind::kOther},
};

TEST(ClassifyMappingTest, FollowsTheTable) {
  for (const Case& row : kCases) {
    Mapping mapping;
    mapping.readable = row.permissions[0] == 'r';
    mapping.writable = row.permissions[1] == 'w';
    mapping.executable = row.permissions[2] == 'x';
    mapping.shared = row.permissions[3] == 's';
    mapping.name = row.name;
    mapping.deleted = row.deleted;
    mapping.device_major = row.device_major;
    EXPECT_EQ(RegionKindName(ClassifyMapping(mapping)), RegionKindName(row.kind))
        << row.permissions << " " << row.name << (row.deleted ? " (deleted)" : "");
  }
}

}  // namespace
}  // namespace mempulse
