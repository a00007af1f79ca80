#include "collectors/pages/softdirty_mappings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace mempulse {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

Mapping Anon(uint64_t start, uint64_t end) {
  Mapping mapping;
  mapping.start = start;
  mapping.end = end;
  mapping.readable = mapping.writable = true;
  mapping.kind = RegionKind::kAnon;
  return mapping;
}

Mapping File(uint64_t start, uint64_t end, uint64_t offset) {
  Mapping mapping = Anon(start, end);
  mapping.inode = 77;
  mapping.offset = offset;
  mapping.name = "/srv/data";
  mapping.kind = RegionKind::kFileData;
  return mapping;
}

TEST(ChangedMappingsTest, NothingChanged) {
  const std::vector<Mapping> list = {Anon(0x1000, 0x3000), File(0x5000, 0x8000, 0)};
  EXPECT_THAT(ChangedMappings(list, list), IsEmpty());
}

TEST(ChangedMappingsTest, NewMapping) {
  EXPECT_THAT(ChangedMappings({Anon(0x1000, 0x3000)}, {Anon(0x1000, 0x3000), Anon(0x9000, 0xa000)}),
              ElementsAre(PageRange{0x9000, 0xa000}));
  EXPECT_THAT(ChangedMappings({}, {Anon(0x1000, 0x3000)}), ElementsAre(PageRange{0x1000, 0x3000}));
}

TEST(ChangedMappingsTest, AdjacentMappingWasMerged) {
  EXPECT_THAT(ChangedMappings({Anon(0x1000, 0x3000)}, {Anon(0x1000, 0x5000)}),
              ElementsAre(PageRange{0x1000, 0x5000}));
}

TEST(ChangedMappingsTest, GapBetweenTwoWasFilled) {
  EXPECT_THAT(ChangedMappings({Anon(0x1000, 0x3000), Anon(0x4000, 0x6000)}, {Anon(0x1000, 0x6000)}),
              ElementsAre(PageRange{0x1000, 0x6000}));
}

TEST(ChangedMappingsTest, HeapGrewByBreak) {
  Mapping before = Anon(0x10000, 0x20000);
  before.name = "[heap]";
  Mapping after = before;
  after.end = 0x30000;
  EXPECT_THAT(ChangedMappings({before}, {after}), ElementsAre(PageRange{0x10000, 0x30000}));
  EXPECT_THAT(ChangedMappings({after}, {before}), IsEmpty());  // gave memory back
}

TEST(ChangedMappingsTest, StackGrewDownwards) {
  EXPECT_THAT(ChangedMappings({Anon(0x8000, 0xa000)}, {Anon(0x7000, 0xa000)}),
              ElementsAre(PageRange{0x7000, 0xa000}));
}

TEST(ChangedMappingsTest, ProtectionSplitsWithoutMarking) {
  Mapping read_only = Anon(0x3000, 0x4000);
  read_only.writable = false;
  EXPECT_THAT(
      ChangedMappings({Anon(0x1000, 0x6000)}, {Anon(0x1000, 0x3000), read_only, Anon(0x4000, 0x6000)}),
      IsEmpty());
}

TEST(ChangedMappingsTest, ARejoinedSplitCannotBeToldFromANewMapping) {
  EXPECT_THAT(ChangedMappings({Anon(0x1000, 0x3000), Anon(0x3000, 0x6000)}, {Anon(0x1000, 0x6000)}),
              ElementsAre(PageRange{0x1000, 0x6000}));
}

TEST(ChangedMappingsTest, UnmappedInTheMiddleOrWhole) {
  EXPECT_THAT(ChangedMappings({Anon(0x1000, 0x6000)}, {Anon(0x1000, 0x2000), Anon(0x4000, 0x6000)}),
              IsEmpty());
  EXPECT_THAT(ChangedMappings({Anon(0x1000, 0x6000)}, {}), IsEmpty());
}

TEST(ChangedMappingsTest, AnotherFileInThePlaceOfOne) {
  Mapping other = File(0x5000, 0x8000, 0);
  other.inode = 78;
  EXPECT_THAT(ChangedMappings({File(0x5000, 0x8000, 0)}, {other}), ElementsAre(PageRange{0x5000, 0x8000}));
  EXPECT_THAT(ChangedMappings({File(0x5000, 0x8000, 0)}, {File(0x5000, 0x8000, 0x1000)}),
              ElementsAre(PageRange{0x5000, 0x8000}));
  EXPECT_THAT(ChangedMappings({File(0x5000, 0x8000, 0)}, {File(0x6000, 0x8000, 0x1000)}), IsEmpty());
}

}  // namespace
}  // namespace mempulse
