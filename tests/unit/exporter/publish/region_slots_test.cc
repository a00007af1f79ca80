#include "exporter/publish/region_slots.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace mempulse {
namespace {

using ::testing::ElementsAre;

FileRegion Region(const std::string& file, double hertz, uint64_t begin = 0x1000, uint64_t end = 0x2000) {
  FileRegion region;
  region.identity = "build-id:" + file;
  region.begin = begin;
  region.end = end;
  region.hertz = hertz;
  region.name = file;
  return region;
}

std::vector<std::string> Names(const RegionSlots::Answer& answer) {
  std::vector<std::string> names;
  for (const RegionSlots::Slot& slot : answer.shown) names.push_back(slot.region.name);
  return names;
}

TEST(RegionSlots, ShowsTheFastest) {
  RegionSlots slots;
  const RegionSlots::Answer answer = slots.Update({Region("a", 10), Region("b", 30), Region("c", 20)}, 2);
  EXPECT_THAT(Names(answer), ElementsAre("b", "c"));
  EXPECT_EQ(answer.others, 1u);
}

TEST(RegionSlots, APlaceIsKeptAgainstASlightlyFasterNewcomer) {
  RegionSlots slots;
  slots.Update({Region("a", 100)}, 1);
  EXPECT_THAT(Names(slots.Update({Region("a", 100), Region("b", 124)}, 1)), ElementsAre("a"));
  const RegionSlots::Answer answer = slots.Update({Region("a", 100), Region("b", 126)}, 1);
  EXPECT_THAT(Names(answer), ElementsAre("b"));
  EXPECT_EQ(answer.others, 1u);
}

TEST(RegionSlots, ARegionThatWasNotSeenIsNotShownButLosesItsPlaceOnlyToAnother) {
  RegionSlots slots;
  const std::string id = slots.Update({Region("a", 100)}, 1).shown[0].id;
  EXPECT_TRUE(slots.Update({}, 1).shown.empty());
  const RegionSlots::Answer back = slots.Update({Region("a", 90, 0x1000, 0x3000)}, 1);
  ASSERT_EQ(back.shown.size(), 1u);
  EXPECT_EQ(back.shown[0].id, id);
  slots.Update({}, 1);
  EXPECT_THAT(Names(slots.Update({Region("b", 1)}, 1)), ElementsAre("b"));
}

TEST(RegionSlots, AnIdentityOutlivesAWanderingEdge) {
  RegionSlots slots;
  const std::string id = slots.Update({Region("a", 100, 0x1000, 0x5000)}, 4).shown[0].id;
  const RegionSlots::Answer answer =
      slots.Update({Region("a", 50, 0x2000, 0x3000), Region("a", 70, 0x4000, 0x9000)}, 4);
  ASSERT_EQ(answer.shown.size(), 1u);
  EXPECT_EQ(answer.shown[0].id, id);
  EXPECT_DOUBLE_EQ(answer.shown[0].region.hertz, 70);
}

TEST(RegionSlots, OneFileInSeveralProcessesIsOneRegion) {
  RegionSlots slots;
  const RegionSlots::Answer answer = slots.Update({Region("a", 10), Region("a", 40)}, 4);
  ASSERT_EQ(answer.shown.size(), 1u);
  EXPECT_DOUBLE_EQ(answer.shown[0].region.hertz, 40);
}

TEST(RegionSlots, TheSameRegionHasTheSameIdInAnotherProcess) {
  RegionSlots first;
  RegionSlots second;
  EXPECT_EQ(first.Update({Region("a", 10)}, 1).shown[0].id, second.Update({Region("a", 99)}, 1).shown[0].id);
}

TEST(RegionSlots, FewerPlacesAndNone) {
  RegionSlots slots;
  slots.Update({Region("a", 10), Region("b", 20)}, 2);
  EXPECT_THAT(Names(slots.Update({Region("a", 10), Region("b", 20)}, 1)), ElementsAre("b"));
  const RegionSlots::Answer none = slots.Update({Region("a", 10), Region("b", 20)}, 0);
  EXPECT_TRUE(none.shown.empty());
  EXPECT_EQ(none.others, 2u);
}

}  // namespace
}  // namespace mempulse
