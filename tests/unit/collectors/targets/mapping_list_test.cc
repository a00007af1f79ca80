#include "collectors/targets/mapping_list.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <ctime>
#include <filesystem>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace mempulse {
namespace {

Mapping ParseOne(absl::string_view line) {
  const absl::StatusOr<std::vector<Mapping>> mappings = ParseMappings(line);
  EXPECT_TRUE(mappings.ok()) << mappings.status();
  if (!mappings.ok() || mappings->size() != 1) return Mapping();
  return mappings->front();
}

std::string Line(absl::string_view name) {
  return absl::StrFormat("%-73s%s\n", "55c861308000-55c86130a000 r--p 00000000 fe:00 247134 ", name);
}

TEST(ParseMappingsTest, ReadsEveryColumn) {
  const Mapping mapping =
      ParseOne("55c861308000-55c86130a000 rw-s 00002000 fe:1f 247134                     /usr/bin/cat\n");
  EXPECT_EQ(mapping.start, 0x55c861308000u);
  EXPECT_EQ(mapping.end, 0x55c86130a000u);
  EXPECT_EQ(mapping.size(), 0x2000u);
  EXPECT_TRUE(mapping.readable && mapping.writable && mapping.shared);
  EXPECT_FALSE(mapping.executable || mapping.deleted);
  EXPECT_EQ(mapping.offset, 0x2000u);
  EXPECT_EQ(mapping.device_major, 0xfeu);
  EXPECT_EQ(mapping.device_minor, 0x1fu);
  EXPECT_EQ(mapping.inode, 247134u);
  EXPECT_EQ(mapping.name, "/usr/bin/cat");
  EXPECT_EQ(mapping.kind, RegionKind::kFileData);
}

TEST(ParseMappingsTest, ReadsMappingsWithoutAName) {
  EXPECT_EQ(ParseOne("7f00-7f10 rw-p 00000000 00:00 0 \n").name, "");
  EXPECT_EQ(ParseOne("7f00-7f10 rw-p 00000000 00:00 0\n").name, "");
  EXPECT_EQ(ParseOne("7f00-7f10 rw-p 00000000 00:00 0").kind, RegionKind::kAnon);
}

TEST(ParseMappingsTest, ReadsTheHighestAddress) {
  const Mapping mapping =
      ParseOne("ffffffffff600000-ffffffffffffffff --xp 00000000 00:00 0                  [vsyscall]\n");
  EXPECT_EQ(mapping.end, 0xffffffffffffffffu);
  EXPECT_EQ(mapping.kind, RegionKind::kOther);
}

TEST(ParseMappingsTest, KeepsOddNames) {
  for (const std::string& name :
       {std::string("/tmp/two  blanks "), std::string("/tmp/\"quoted\" 'name'"),
        std::string("/tmp/\\backslash\\n"), std::string("/tmp/\xff\xfe\x80 invalid"),
        std::string("/tmp/tab\there\r"), std::string("[anon:my name]"),
        std::string("anon_inode:[perf_event]"), std::string(1, '/') + std::string(4094, 'x')}) {
    const Mapping mapping = ParseOne(Line(name));
    EXPECT_EQ(mapping.name, name);
    EXPECT_FALSE(mapping.deleted);
  }
}

TEST(ParseMappingsTest, UndoesTheEscapeOfNewlinesOnly) {
  EXPECT_EQ(ParseOne(Line("/tmp/a\\012b\\012")).name, "/tmp/a\nb\n");
  EXPECT_EQ(ParseOne(Line("/tmp/\\011\\01\\0123")).name, "/tmp/\\011\\01\n3");
}

TEST(ParseMappingsTest, TakesDeletedAsAHint) {
  const Mapping gone = ParseOne(Line("/tmp/x (deleted)"));
  EXPECT_EQ(gone.name, "/tmp/x");
  EXPECT_TRUE(gone.deleted);
  const Mapping gone_and_called_so = ParseOne(Line("/tmp/x (deleted) (deleted)"));
  EXPECT_EQ(gone_and_called_so.name, "/tmp/x (deleted)");
  EXPECT_TRUE(gone_and_called_so.deleted);
}

TEST(ParseMappingsTest, EmptyTextIsAnEmptyList) {
  const absl::StatusOr<std::vector<Mapping>> mappings = ParseMappings("");
  ASSERT_TRUE(mappings.ok());
  EXPECT_TRUE(mappings->empty());
}

TEST(ParseMappingsTest, RefusesBrokenLinesAndQuotesThem) {
  for (const absl::string_view line :
       {"garbage", "\n", "7f00 rw-p 00000000 00:00 0", "7f10-7f00 rw-p 00000000 00:00 0",
        "7f00-7f00 rw-p 00000000 00:00 0", "7f00-7f10 rw-q 00000000 00:00 0", "7f00-7f10 rw-p  00:00 0",
        "7f00-7f10 rw-p 00000000 0000 0", "7f00-7f10 rw-p 00000000 00:00",
        "7f00-7f10 rw-p 00000000 00:00 0x/a", "10000000000000000-10000000000000001 rw-p 00000000 00:00 0",
        "7f00-7f10 rw-p 00000000 100000000:00 0", "-7f10 rw-p 00000000 00:00 0",
        "7F00-7F10 rw-p 00000000 00:00 0"}) {
    EXPECT_EQ(ParseMappings(line).status().code(), absl::StatusCode::kInvalidArgument) << line;
  }
  const absl::Status status = ParseMappings("7f00-7f10 rw-p 0 00:00 0 /ok\nbad\x01line\n").status();
  EXPECT_EQ(status.message(), "maps: cannot parse \"bad\\x01line\"");
  EXPECT_LT(ParseMappings(std::string(100000, 'z')).status().message().size(), 200u);
}

TEST(ParseMappingsTest, MakesOverlappingLinesDisjoint) {
  const absl::StatusOr<std::vector<Mapping>> mappings = ParseMappings(
      "1000-3000 rw-p 00000000 00:00 0\n"
      "2000-5000 rw-p 00010000 fe:00 7 /a\n"
      "4000-5000 rw-p 00000000 00:00 0\n");
  ASSERT_TRUE(mappings.ok());
  ASSERT_EQ(mappings->size(), 2u);
  EXPECT_EQ((*mappings)[1].start, 0x3000u);
  EXPECT_EQ((*mappings)[1].offset, 0x11000u);
}

TEST(ParseMappingsTest, SurvivesAnyCutAndAnyFlippedBit) {
  const std::string text =
      Line("/usr/bin/a\\012b (deleted)") + "55c861400000-55c861500000 rw-p 00000000 00:00 0 \n";
  for (size_t size = 0; size <= text.size(); ++size) {
    static_cast<void>(ParseMappings(absl::string_view(text).substr(0, size)));
  }
  for (size_t bit = 0; bit < text.size() * 8; ++bit) {
    std::string flipped = text;
    flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << (bit % 8)));
    static_cast<void>(ParseMappings(flipped));
  }
}

TEST(ParseMappingsTest, ParsesAHundredThousandMappings) {
  std::string text;
  for (uint64_t i = 0; i < 100000; ++i) {
    absl::StrAppendFormat(
        &text, "%x-%x rw-p 00000000 fe:00 247134                     /usr/lib/x86_64/libexample.so.%d\n",
        0x7f0000000000 + i * 8192, 0x7f0000000000 + i * 8192 + 4096, i);
  }
  const std::clock_t begin = std::clock();  // CPU time, which a busy machine does not stretch
  const absl::StatusOr<std::vector<Mapping>> mappings = ParseMappings(text);
  const double milliseconds = 1000.0 * static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
  ASSERT_TRUE(mappings.ok());
  EXPECT_EQ(mappings->size(), 100000u);
  RecordProperty("milliseconds", std::to_string(milliseconds));
  // Loose, for builds with sanitizers; an optimised one takes under 100 ms.
  EXPECT_LT(milliseconds, 1000);
}

TEST(FindMappingTest, FindsTheOneThatHoldsTheAddress) {
  const std::vector<Mapping> mappings =
      *ParseMappings("1000-2000 rw-p 0 00:00 0\n2000-3000 r--p 0 00:00 0\n5000-6000 rw-p 0 00:00 0\n");
  EXPECT_EQ(FindMapping(mappings, 0xfff), nullptr);
  EXPECT_EQ(FindMapping(mappings, 0x1000), &mappings[0]);
  EXPECT_EQ(FindMapping(mappings, 0x1fff), &mappings[0]);
  EXPECT_EQ(FindMapping(mappings, 0x2000), &mappings[1]);
  EXPECT_EQ(FindMapping(mappings, 0x3000), nullptr);
  EXPECT_EQ(FindMapping(mappings, 0x5fff), &mappings[2]);
  EXPECT_EQ(FindMapping(mappings, 0x6000), nullptr);
  EXPECT_EQ(FindMapping({}, 0x1000), nullptr);
}

TEST(ReadMappingsTest, ReadsAFixture) {
  const Host host(MEMPULSE_SOURCE_DIR "/tests/fixtures/proc");
  bool truncated = true;
  const absl::StatusOr<std::vector<Mapping>> mappings = ReadMappings(host, 200, &truncated);
  ASSERT_TRUE(mappings.ok()) << mappings.status();
  EXPECT_FALSE(truncated);
  EXPECT_EQ(mappings->size(), 6u);
  EXPECT_TRUE(absl::IsNotFound(ReadMappings(host, 999, &truncated).status()));
}

TEST(ReadMappingsTest, CutsAfterTheLastWholeLine) {
  const Host host(MEMPULSE_SOURCE_DIR "/tests/fixtures/proc");
  const size_t size = std::filesystem::file_size(host.ProcPath(200, "maps"));
  size_t before = 0;
  for (size_t limit = 0; limit < size; ++limit) {
    bool truncated = false;
    const absl::StatusOr<std::vector<Mapping>> mappings = ReadMappings(host, 200, &truncated, limit);
    ASSERT_TRUE(mappings.ok()) << mappings.status();
    EXPECT_TRUE(truncated) << limit;
    EXPECT_GE(mappings->size(), before);
    before = mappings->size();
  }
  bool truncated = true;
  EXPECT_EQ(ReadMappings(host, 200, &truncated, size)->size(), 6u);
  EXPECT_FALSE(truncated);
}

TEST(ReadMappingsTest, OwnMappingsHoldAVariableOfEachKind) {
  bool truncated = false;
  const absl::StatusOr<std::vector<Mapping>> mappings = ReadMappings(Host(), getpid(), &truncated);
  ASSERT_TRUE(mappings.ok()) << mappings.status();
  int on_stack = 0;
  static int in_file_data = 7;
  const auto kind_at = [&mappings](const void* address) {
    const Mapping* mapping = FindMapping(*mappings, reinterpret_cast<uintptr_t>(address));
    return mapping == nullptr ? std::string("none") : std::string(RegionKindName(mapping->kind));
  };
  EXPECT_EQ(kind_at(&on_stack), "stack");
  EXPECT_EQ(kind_at(&in_file_data), "file-data");
  EXPECT_EQ(kind_at(reinterpret_cast<const void*>(&ParseMappings)), "file-text");
}

// What this kernel prints for names that the table of kinds and the parser were written for.
class MappedName : public testing::Test {
 protected:
  Mapping MapAndFind(int fd, int flags) {
    void* memory = mmap(nullptr, 4096, PROT_READ, flags, fd, 0);
    EXPECT_NE(memory, MAP_FAILED);
    bool truncated = false;
    const std::vector<Mapping> mappings = *ReadMappings(Host(), getpid(), &truncated);
    const Mapping* found = FindMapping(mappings, reinterpret_cast<uintptr_t>(memory));
    const Mapping copy = found == nullptr ? Mapping() : *found;
    munmap(memory, 4096);
    return copy;
  }

  Mapping MapFile(const std::string& name, bool remove) {
    const std::string path = testing::TempDir() + name;
    const UniqueFd fd(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
    EXPECT_TRUE(fd.valid()) << path;
    EXPECT_EQ(ftruncate(fd.get(), 4096), 0);
    struct stat status {};
    fstat(fd.get(), &status);
    inode_ = status.st_ino;
    if (remove) unlink(path.c_str());
    const Mapping mapping = MapAndFind(fd.get(), MAP_PRIVATE);
    unlink(path.c_str());
    return mapping;
  }

  uint64_t inode_ = 0;
};

TEST_F(MappedName, NewlineBlankQuoteAndInvalidUtf8) {
  const std::string name = "mp \"'\\ \n\xff\xc3(x)";
  const Mapping mapping = MapFile(name, false);
  EXPECT_EQ(mapping.name, testing::TempDir() + name);
  EXPECT_EQ(mapping.inode, inode_);
  EXPECT_FALSE(mapping.deleted);
}

TEST_F(MappedName, DeletedAndCalledDeletedLookAlike) {
  const Mapping gone = MapFile("mempulse_maps", true);
  const Mapping there = MapFile("mempulse_maps (deleted)", false);
  EXPECT_TRUE(gone.deleted);
  EXPECT_TRUE(there.deleted);
  EXPECT_EQ(gone.name, there.name);
}

TEST_F(MappedName, SharedMemoryOfEachOrigin) {
  const UniqueFd memory(memfd_create("a name", MFD_CLOEXEC));
  ASSERT_EQ(ftruncate(memory.get(), 4096), 0);
  EXPECT_EQ(MapAndFind(memory.get(), MAP_SHARED).name, "/memfd:a name");
  EXPECT_EQ(MapAndFind(memory.get(), MAP_SHARED).kind, RegionKind::kShared);
  EXPECT_EQ(MapAndFind(-1, MAP_SHARED | MAP_ANONYMOUS).kind, RegionKind::kShared);
  EXPECT_EQ(MapAndFind(-1, MAP_PRIVATE | MAP_ANONYMOUS).kind, RegionKind::kAnon);
  const UniqueFd zero(open("/dev/zero", O_RDONLY | O_CLOEXEC));
  EXPECT_EQ(MapAndFind(zero.get(), MAP_PRIVATE).kind, RegionKind::kAnon);
}

}  // namespace
}  // namespace mempulse
