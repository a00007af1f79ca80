#include "exporter/publish/own_state.h"

#include <gtest/gtest.h>

#include <limits>

#include "absl/strings/str_cat.h"

namespace mempulse {
namespace {

Host FixtureHost(const std::string& name) {
  return Host(absl::StrCat(MEMPULSE_SOURCE_DIR, "/tests/fixtures/own_process/", name));
}

TEST(OwnState, ReadsTheProcess) {
  const absl::StatusOr<ProcessUsage> usage = ReadProcessUsage(FixtureHost("good"));
  ASSERT_TRUE(usage.ok()) << usage.status();
  EXPECT_DOUBLE_EQ(usage->cpu_seconds, 12.5);
  EXPECT_EQ(usage->resident_bytes, 3u * 4096);
  EXPECT_EQ(usage->virtual_bytes, 987654321u);
  EXPECT_EQ(usage->threads, 70u);
  EXPECT_EQ(usage->open_fds, 2u);
  EXPECT_EQ(usage->max_fds, 1024u);
  EXPECT_DOUBLE_EQ(usage->start_time_seconds, 1'700'000'050.5);
}

TEST(OwnState, AFileThatDoesNotParseIsAnError) {
  EXPECT_EQ(ReadProcessUsage(FixtureHost("short_stat")).status().code(), absl::StatusCode::kInternal);
}

TEST(OwnState, AMissingFolderIsAnError) { EXPECT_FALSE(ReadProcessUsage(FixtureHost("none")).ok()); }

TEST(OwnState, ReadsThisProcess) {
  const absl::StatusOr<ProcessUsage> usage = ReadProcessUsage(Host());
  ASSERT_TRUE(usage.ok()) << usage.status();
  EXPECT_GT(usage->resident_bytes, 0u);
  EXPECT_GT(usage->open_fds, 2u);
}

}  // namespace
}  // namespace mempulse
