#include "exporter/ctl/doctor_facts.h"

#include <gtest/gtest.h>
#include <unistd.h>

namespace mempulse {
namespace {

TEST(CollectDoctorFactsTest, AboutThisProcess) {
  const Host host;
  const absl::StatusOr<DoctorFacts> facts = CollectDoctorFacts(host, getpid());
  ASSERT_TRUE(facts.ok()) << facts.status();
  EXPECT_GT(facts->kernel.major, 2);
  EXPECT_EQ(facts->page_size_bytes, 4096);
  EXPECT_EQ(facts->own.uids[1], geteuid());
  EXPECT_GT(facts->open_files.soft, 0u);
  EXPECT_EQ(facts->mechanisms.size(), 3u);
  ASSERT_TRUE(facts->target.has_value());
  EXPECT_EQ(facts->target->mechanisms.size(), 3u);
  EXPECT_EQ(facts->target->access.errors.maps, 0);
  EXPECT_FALSE(facts->target->cooperative.supported);
  const TrackerSupport& own = facts->mechanisms[0];
  EXPECT_EQ(facts->target->cooperative.reason, own.supported ? "no_offer" : own.reason);
}

TEST(CollectDoctorFactsTest, WithoutTarget) {
  const Host host;
  const absl::StatusOr<DoctorFacts> facts = CollectDoctorFacts(host, std::nullopt);
  ASSERT_TRUE(facts.ok()) << facts.status();
  EXPECT_FALSE(facts->target.has_value());
}

TEST(CollectDoctorFactsTest, NoSuchProcess) {
  const Host host;
  EXPECT_TRUE(absl::IsNotFound(CollectDoctorFacts(host, 0x3fffffff).status()));
}

}  // namespace
}  // namespace mempulse
