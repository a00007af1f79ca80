#include "collectors/targets/build_id.h"

#include <elf.h>
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/unit/collectors/targets/child_process.h"
#include "tests/unit/collectors/targets/small_elf.h"

namespace mempulse {
namespace {

TEST(BuildIdOfElfTest, ReadsSegmentsAndSectionsOfBothClasses) {
  EXPECT_EQ(BuildIdOfElf(SmallElf64({.segments = true})).value_or(""), kSmallElfBuildId);
  EXPECT_EQ(BuildIdOfElf(SmallElf64({.sections = true})).value_or(""), kSmallElfBuildId);
  EXPECT_EQ(BuildIdOfElf(SmallElf32({.segments = true})).value_or(""), kSmallElfBuildId);
  EXPECT_EQ(BuildIdOfElf(SmallElf32({.sections = true})).value_or(""), kSmallElfBuildId);
}

TEST(BuildIdOfElfTest, SkipsOtherNotesInEitherAlignment) {
  EXPECT_EQ(BuildIdOfElf(SmallElf64({.segments = true, .other_note_first = true})).value_or(""),
            kSmallElfBuildId);
  EXPECT_EQ(
      BuildIdOfElf(SmallElf64({.segments = true, .other_note_first = true, .alignment = 8})).value_or(""),
      kSmallElfBuildId);
}

TEST(BuildIdOfElfTest, TellsNoIdFromNoElf) {
  EXPECT_TRUE(absl::IsNotFound(BuildIdOfElf(SmallElf64({})).status()));
  EXPECT_TRUE(absl::IsInvalidArgument(BuildIdOfElf({}).status()));
  EXPECT_TRUE(absl::IsInvalidArgument(BuildIdOfElf(std::vector<uint8_t>(4096, 0)).status()));
  std::vector<uint8_t> image = SmallElf64({.segments = true});
  image[EI_DATA] = ELFDATA2MSB;
  EXPECT_TRUE(absl::IsInvalidArgument(BuildIdOfElf(image).status()));
  image = SmallElf64({.segments = true});
  image[EI_CLASS] = 3;
  EXPECT_TRUE(absl::IsInvalidArgument(BuildIdOfElf(image).status()));
}

TEST(BuildIdOfElfTest, RefusesSizesThatDoNotFit) {
  for (const uint64_t huge : {uint64_t{1} << 20, ~uint64_t{0}, ~uint64_t{0} - 40, uint64_t{1} << 63}) {
    std::vector<uint8_t> image = SmallElf64({.segments = true});
    std::memcpy(image.data() + offsetof(Elf64_Ehdr, e_phoff), &huge, sizeof(huge));
    EXPECT_TRUE(absl::IsInvalidArgument(BuildIdOfElf(image).status())) << huge;
    for (const size_t field : {offsetof(Elf64_Phdr, p_offset), offsetof(Elf64_Phdr, p_filesz)}) {
      image = SmallElf64({.segments = true});
      std::memcpy(image.data() + sizeof(Elf64_Ehdr) + field, &huge, sizeof(huge));
      EXPECT_TRUE(absl::IsInvalidArgument(BuildIdOfElf(image).status())) << huge << " " << field;
    }
  }
}

// An answer is an error or hex of at most 64 bytes; the sanitizers see to the rest.
void ExpectSane(const std::vector<uint8_t>& image) {
  // A copy of exactly this size, so that one byte too far is noticed.
  const std::vector<uint8_t> exact(image.begin(), image.end());
  const absl::StatusOr<std::string> id = BuildIdOfElf(exact);
  if (!id.ok()) return;
  EXPECT_LE(id->size(), 128u);
  EXPECT_EQ(id->find_first_not_of("0123456789abcdef"), std::string::npos);
}

TEST(BuildIdOfElfTest, SurvivesEveryCutAndEveryFlippedBit) {
  const SmallElfOptions options = {.segments = true, .sections = true, .other_note_first = true};
  for (const std::vector<uint8_t>& whole : {SmallElf64(options), SmallElf32(options)}) {
    for (size_t size = 0; size <= whole.size(); ++size) {
      ExpectSane(std::vector<uint8_t>(whole.begin(), whole.begin() + static_cast<ptrdiff_t>(size)));
    }
    for (size_t bit = 0; bit < whole.size() * 8; ++bit) {
      std::vector<uint8_t> flipped = whole;
      flipped[bit / 8] = static_cast<uint8_t>(flipped[bit / 8] ^ (1u << (bit % 8)));
      ExpectSane(flipped);
    }
    for (size_t at = 0; at + 4 <= whole.size(); ++at) {
      for (const uint32_t value : {0u, 1u, 0x7fffffffu, 0x80000000u, 0xffffffffu, 0xfffffff0u}) {
        std::vector<uint8_t> changed = whole;
        std::memcpy(changed.data() + at, &value, sizeof(value));
        ExpectSane(changed);
      }
    }
  }
}

// Files of this test that another process has mapped.
class ReadBuildIdTest : public testing::Test {
 protected:
  ~ReadBuildIdTest() override {
    for (const std::string& path : paths_) std::filesystem::remove(path);
  }

  std::string Write(const std::string& name, const std::vector<uint8_t>& image) {
    const std::string path = testing::TempDir() + name;
    std::filesystem::remove(path);
    std::ofstream(path, std::ios::binary)
        .write(reinterpret_cast<const char*>(image.data()), static_cast<std::streamsize>(image.size()));
    paths_.push_back(path);
    return path;
  }

  // The mapping of `path` in this process, which keeps it.
  Mapping Map(const std::string& path) {
    const UniqueFd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC));
    void* memory = mmap(nullptr, 4096, PROT_READ, MAP_PRIVATE, fd.get(), 0);
    EXPECT_NE(memory, MAP_FAILED);
    bool truncated = false;
    return *FindMapping(*ReadMappings(host_, getpid(), &truncated), reinterpret_cast<uintptr_t>(memory));
  }

  // As a process without capabilities reads it: map_files refuses, the name serves.
  std::string ReadUnprivileged(const Mapping& mapping, pid_t pid) {
    const ChildProcess reader([&] {
      BecomeNobody();
      const absl::StatusOr<std::string> id = ReadBuildId(host_, pid, mapping);
      const std::string answer = absl::StrCat(id.ok() ? *id : std::string(id.status().message()), "\n");
      if (write(STDOUT_FILENO, answer.data(), answer.size()) < 0) _exit(1);
      _exit(0);
    });
    return reader.ReadLine();
  }

  Host host_;
  std::vector<std::string> paths_;
};

TEST_F(ReadBuildIdTest, ReadsALibraryOfThisProgram) {
  bool truncated = false;
  const std::vector<Mapping> mappings = *ReadMappings(host_, getpid(), &truncated);
  const auto is_libc = [](const Mapping& mapping) {
    return mapping.name.find("/libc.so") != std::string::npos;
  };
  const auto found = std::find_if(mappings.begin(), mappings.end(), is_libc);
  ASSERT_NE(found, mappings.end());
  const absl::StatusOr<std::string> id = ReadBuildId(host_, getpid(), *found);
  ASSERT_TRUE(id.ok()) << id.status();
  EXPECT_EQ(id->size(), 40u);
}

TEST_F(ReadBuildIdTest, ReadsByRangeEvenAfterDeletion) {
  if (geteuid() != 0) GTEST_SKIP() << "map_files needs CAP_SYS_ADMIN or CAP_CHECKPOINT_RESTORE";
  const std::string path = Write("mempulse_gone.so", SmallElf64({.segments = true}));
  Map(path);
  std::filesystem::remove(path);
  bool truncated = false;
  const std::vector<Mapping> mappings = *ReadMappings(host_, getpid(), &truncated);
  const auto gone = std::find_if(mappings.begin(), mappings.end(),
                                 [&path](const Mapping& mapping) { return mapping.name == path; });
  ASSERT_NE(gone, mappings.end());
  EXPECT_TRUE(gone->deleted);
  EXPECT_EQ(ReadBuildId(host_, getpid(), *gone).value_or(""), kSmallElfBuildId);
}

TEST_F(ReadBuildIdTest, ReadsByNameWithoutCapabilities) {
  if (geteuid() != 0) GTEST_SKIP() << "needs root to become another user";
  const std::string path = Write("mempulse_named.so", SmallElf64({.segments = true}));
  const std::string odd = Write("mempulse \n named (deleted)", SmallElf64({.segments = true}));
  const Mapping mapping = Map(path);
  const Mapping odd_mapping = Map(odd);
  ASSERT_TRUE(odd_mapping.deleted);
  const ChildProcess owner([] {
    BecomeNobody();
    prctl(PR_SET_DUMPABLE, 1);
    if (write(STDOUT_FILENO, "\n", 1) != 1) _exit(1);
    pause();
  });
  owner.ReadLine();
  EXPECT_EQ(ReadUnprivileged(mapping, owner.pid()), kSmallElfBuildId);
  EXPECT_EQ(ReadUnprivileged(odd_mapping, owner.pid()), kSmallElfBuildId);
}

TEST_F(ReadBuildIdTest, RefusesAnotherFileOfTheSameName) {
  const std::string path = Write("mempulse_replaced.so", SmallElf64({.segments = true}));
  const std::string kept = path + ".old";
  Mapping mapping = Map(path);
  std::filesystem::rename(path, kept);
  paths_.push_back(kept);
  Write("mempulse_replaced.so", SmallElf64({.segments = true}));
  mapping.start += 4096;  // no such range: only the name is left
  mapping.end += 4096;
  const absl::Status status = ReadBuildId(host_, getpid(), mapping).status();
  EXPECT_TRUE(absl::IsNotFound(status)) << status;
  EXPECT_THAT(std::string(status.message()), testing::HasSubstr("is not the mapped file"));
}

TEST_F(ReadBuildIdTest, RefusesAnotherDeviceUnlessOneIsAnonymous) {
  Mapping mapping = Map(Write("mempulse_device.so", SmallElf64({.segments = true})));
  if (mapping.device_major == 0) GTEST_SKIP() << "the temporary folder is on an anonymous device";
  ++mapping.device_minor;
  EXPECT_FALSE(ReadBuildId(host_, getpid(), mapping).ok());
  mapping.device_major = 0;
  EXPECT_EQ(ReadBuildId(host_, getpid(), mapping).value_or(""), kSmallElfBuildId);
}

TEST_F(ReadBuildIdTest, OpensNoDeviceFifoOrSymbolicLink) {
  for (const char* name : {"/dev/zero", "/proc/self/exe"}) {
    Mapping mapping;
    mapping.start = 0x1000;
    mapping.end = 0x2000;
    mapping.name = name;
    struct stat status {};
    ASSERT_EQ(lstat(name, &status), 0);
    mapping.inode = status.st_ino;
    EXPECT_FALSE(ReadBuildId(host_, getpid(), mapping).ok()) << name;
  }
}

TEST_F(ReadBuildIdTest, FailuresNeverCountAsFailedRounds) {
  Mapping mapping;
  mapping.inode = 1;
  mapping.end = 4096;
  for (const std::string& name : {std::string("[heap]"), "/" + std::string(4094, 'x'),
                                  std::string("/" + std::string(300, 'x')), std::string("/etc/passwd/x")}) {
    mapping.name = name;
    const absl::Status status = ReadBuildId(host_, getpid(), mapping).status();
    EXPECT_TRUE(absl::IsNotFound(status) || absl::IsUnavailable(status)) << status;
  }
  mapping.inode = 0;
  EXPECT_TRUE(absl::IsNotFound(ReadBuildId(host_, getpid(), mapping).status()));
}

TEST_F(ReadBuildIdTest, SurvivesAFileThatShrinks) {
  const std::string path = Write("mempulse_shrunk.so", SmallElf64({.segments = true}));
  const Mapping mapping = Map(path);
  std::filesystem::resize_file(path, 80);
  EXPECT_TRUE(absl::IsInvalidArgument(ReadBuildId(host_, getpid(), mapping).status()));
}

}  // namespace
}  // namespace mempulse
