#include "collectors/targets/pid_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace mempulse {
namespace {

class PidFileTest : public testing::Test {
 protected:
  ~PidFileTest() override { std::filesystem::remove(path_); }

  absl::StatusOr<pid_t> ReadText(const std::string& text, mode_t mode = 0644) {
    std::filesystem::remove(path_);
    std::ofstream(path_, std::ios::binary) << text;
    chmod(path_.c_str(), mode);
    return ReadPidFile(Host(), path_);
  }

  std::string path_ = testing::TempDir() + "mempulse_pid_file";
};

TEST_F(PidFileTest, TakesTheNumberOfTheFirstLine) {
  EXPECT_EQ(ReadText("123").value_or(0), 123);
  EXPECT_EQ(ReadText("123\n").value_or(0), 123);
  EXPECT_EQ(ReadText("  123\r\n").value_or(0), 123);
  EXPECT_EQ(ReadText("4711\n/var/lib/postgresql/15/main\n1700000000\n5432\n").value_or(0), 4711);
  EXPECT_EQ(ReadText("123\n" + std::string(1 << 20, 'x')).value_or(0), 123);
}

TEST_F(PidFileTest, RefusesEverythingElse) {
  for (const std::string& text : {std::string(), std::string("\n"), std::string("\n123"), std::string("0"),
                                  std::string("-5"), std::string("+5"), std::string("12x"),
                                  std::string("0x12"), std::string("1 2"), std::string("99999999999"),
                                  std::string(200, '1'), std::string("1\0002", 3), std::string("\xff\xfe")}) {
    EXPECT_EQ(ReadText(text).status().code(), absl::StatusCode::kInvalidArgument) << text;
  }
}

TEST_F(PidFileTest, DoesNotQuoteTheFile) {
  EXPECT_EQ(ReadText("secret").status().message(), path_ + " holds no process number");
}

TEST_F(PidFileTest, RefusesAFileThatEverybodyMayWrite) { EXPECT_FALSE(ReadText("123", 0666).ok()); }

TEST_F(PidFileTest, RefusesWhatIsNoRegularFile) {
  EXPECT_FALSE(ReadPidFile(Host(), testing::TempDir()).ok());
  EXPECT_FALSE(ReadPidFile(Host(), "/dev/zero").ok());
  std::filesystem::remove(path_);
  ASSERT_EQ(mkfifo(path_.c_str(), 0600), 0);
  EXPECT_FALSE(ReadPidFile(Host(), path_).ok());
  std::filesystem::remove(path_);
  std::filesystem::create_symlink("/proc/sys/kernel/pid_max", path_);
  EXPECT_FALSE(ReadPidFile(Host(), path_).ok());
}

}  // namespace
}  // namespace mempulse
