#include "config/near_name.h"

#include <gtest/gtest.h>

namespace mempulse {
namespace {

TEST(EditDistanceTest, CountsInsertsDeletesReplacementsAndSwaps) {
  EXPECT_EQ(EditDistance("", ""), 0);
  EXPECT_EQ(EditDistance("", "abc"), 3);
  EXPECT_EQ(EditDistance("abc", "abc"), 0);
  EXPECT_EQ(EditDistance("windw", "windows"), 2);
  EXPECT_EQ(EditDistance("jitetr", "jitter"), 1);
  EXPECT_EQ(EditDistance("kitten", "sitting"), 3);
}

TEST(EditDistanceTest, SwappedBytesMayHaveAnEditBetweenThem) {
  // The restricted form gives 3.
  EXPECT_EQ(EditDistance("ca", "abc"), 2);
}

TEST(NearNameTest, FindsTheNearest) {
  EXPECT_EQ(NearName("windw", {"window", "windows"}), "window");
  EXPECT_EQ(NearName("sweeep", {"web", "sweep"}), "sweep");
  EXPECT_EQ(NearName("log", {"logs", "lag"}), "logs");
  EXPECT_EQ(NearName("windw", {"fine_windows", "windows", "ceiling_window"}), "windows");
}

TEST(NearNameTest, IgnoresCaseAndDashes) { EXPECT_EQ(NearName("MAX-PAGES", {"max_pages"}), "max_pages"); }

TEST(NearNameTest, TakesWhatBeginsAlike) {
  EXPECT_EQ(NearName("warning", {"info", "warn"}), "warn");
  EXPECT_EQ(NearName("command", {"comms_x", "command_lines"}), "command_lines");
  EXPECT_EQ(NearName("of", {"offset"}), "");
}

TEST(NearNameTest, SaysNothingWhenNothingIsNear) {
  EXPECT_EQ(NearName("budget", {"interval", "workers"}), "");
  EXPECT_EQ(NearName("", {"a"}), "");
  EXPECT_EQ(NearName("xy", {"pids"}), "");
  EXPECT_EQ(NearName(std::string(65, 'a'), {std::string(65, 'a')}), "");
  EXPECT_EQ(NearNameHint("budget", {}), "");
  EXPECT_EQ(NearNameHint("pid", {"pids"}), "; did you mean \"pids\"?");
}

}  // namespace
}  // namespace mempulse
