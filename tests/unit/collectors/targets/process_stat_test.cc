#include "collectors/targets/process_stat.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "absl/strings/str_cat.h"

namespace mempulse {
namespace {

constexpr absl::string_view kRest =
    " S 12 99 99 0 -1 4194304 1 2 3 4 5 6 7 8 20 0 1 0 424242 1000 10 18446744073709551615 94000 95000 "
    "140000 0 0 0 0 "
    "0 0 0 0 0 17 1 0 0 0 0 0 0 0 0 0 0 0 0 0\n";

TEST(ParseProcessStatTest, ReadsTheFields) {
  const absl::StatusOr<ProcessStat> stat = ParseProcessStat(absl::StrCat("99 (redis-server)", kRest));
  ASSERT_TRUE(stat.ok()) << stat.status();
  EXPECT_EQ(stat->id, (ProcessId{99, 424242}));
  EXPECT_EQ(stat->comm, "redis-server");
  EXPECT_EQ(stat->state, 'S');
  EXPECT_EQ(stat->parent, 12);
  EXPECT_FALSE(stat->kernel_thread || stat->forked_without_exec || stat->ended());
  EXPECT_EQ(stat->start_code, 94000u);
  EXPECT_EQ(stat->end_code, 95000u);
  EXPECT_EQ(stat->start_stack, 140000u);
}

TEST(ParseProcessStatTest, TakesAnyName) {
  for (const absl::string_view name :
       {") S 1 (", "a b", "a\nb", "(((", ")))", "", " ", "\xff\xfe", ") Z 1 2 3 4 5"}) {
    const absl::StatusOr<ProcessStat> stat = ParseProcessStat(absl::StrCat("99 (", name, ")", kRest));
    ASSERT_TRUE(stat.ok()) << stat.status();
    EXPECT_EQ(stat->comm, name);
    EXPECT_EQ(stat->parent, 12);
  }
}

TEST(ParseProcessStatTest, HiddenAddressesAreZero) {
  // As the kernel writes them for a process that may not be traced.
  const absl::StatusOr<ProcessStat> stat = ParseProcessStat(
      "1 (init) S 0 0 0 0 -1 4194560 1 1 0 1 1 1 1 1 20 0 13 0 30 4 3 18446744073709551615 1 1 0 0 0 0 0 0 "
      "0\n");
  ASSERT_TRUE(stat.ok()) << stat.status();
  EXPECT_EQ(stat->start_code, 0u);
  EXPECT_EQ(stat->end_code, 0u);
  EXPECT_EQ(stat->start_stack, 0u);
}

TEST(ParseProcessStatTest, RefusesWhatIsNoStatLine) {
  for (const absl::string_view text :
       {"", "99", "99 (", "99 (a) ", "99 (a) S 1 2", "(a) S", "x (a) S 1", ") 1 ("}) {
    EXPECT_EQ(ParseProcessStat(text).status().code(), absl::StatusCode::kInvalidArgument) << text;
  }
  const std::string whole = absl::StrCat("99 (a)", kRest);
  for (size_t size = 0; size < whole.size(); ++size) {
    static_cast<void>(ParseProcessStat(absl::string_view(whole).substr(0, size)));
  }
}

TEST(ReadProcessStatTest, ReadsThisProcess) {
  const absl::StatusOr<ProcessStat> stat = ReadProcessStat(Host(), getpid());
  ASSERT_TRUE(stat.ok()) << stat.status();
  EXPECT_EQ(stat->id.pid, getpid());
  EXPECT_EQ(stat->parent, getppid());
  EXPECT_NE(stat->start_stack, 0u);
}

}  // namespace
}  // namespace mempulse
