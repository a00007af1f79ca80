#include "exporter/round/logger.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <memory>
#include <string>

#include "nlohmann/json.hpp"

namespace mempulse {
namespace {

const absl::Time kTime = absl::FromUnixMillis(1'700'000'000'123);

TEST(FormatLogLineTest, Logfmt) {
  EXPECT_EQ(FormatLogLine(false, kTime, LogLevel::kWarn, "page tracker refused",
                          {{"tracker", "softdirty"}, {"detail", "say \"no\"\nnow"}, {"remedy", ""}}),
            "ts=2023-11-14T22:13:20.123Z level=warn msg=\"page tracker refused\" tracker=softdirty "
            "detail=\"say \\\"no\\\"\\nnow\" remedy=\"\"");
}

TEST(FormatLogLineTest, JsonHoldsAnyByte) {
  const std::string line =
      FormatLogLine(true, kTime, LogLevel::kError, "x", {{"comm", std::string("a\xff\0b", 4)}});
  const nlohmann::json parsed = nlohmann::json::parse(line);
  EXPECT_EQ(parsed["level"], "error");
  EXPECT_EQ(parsed["comm"], std::string("a\xef\xbf\xbd\0b", 6));
}

class LoggerTest : public testing::Test {
 protected:
  std::string Written() {
    std::fflush(stream_.get());
    return std::string(buffer_, size_);
  }
  int Lines() {
    int lines = 0;
    for (const char c : Written()) lines += c == '\n' ? 1 : 0;
    return lines;
  }
  ~LoggerTest() override {
    stream_.reset();
    std::free(buffer_);
  }

  char* buffer_ = nullptr;
  size_t size_ = 0;
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> stream_{open_memstream(&buffer_, &size_), std::fclose};
};

TEST_F(LoggerTest, LeavesOutWhatIsBelowTheLevel) {
  Logger log("warn", "logfmt", stream_.get());
  log.Log(LogLevel::kInfo, "quiet", {});
  log.Log(LogLevel::kWarn, "loud", {});
  EXPECT_EQ(Lines(), 1);
}

TEST_F(LoggerTest, SaysARefusalOnceUntilItIsForgotten) {
  Logger log("info", "logfmt", stream_.get());
  for (int round = 0; round < 5; ++round)
    log.LogOnce("demo/1", LogLevel::kWarn, "refused", {{"reason", "yama"}});
  EXPECT_EQ(Lines(), 1);
  log.LogOnce("demo/1", LogLevel::kWarn, "refused", {{"reason", "seccomp"}});
  log.LogOnce("demo/2", LogLevel::kWarn, "refused", {{"reason", "yama"}});
  EXPECT_EQ(Lines(), 3);
  log.Forget("demo/1");
  log.LogOnce("demo/1", LogLevel::kWarn, "refused", {{"reason", "yama"}});
  log.LogOnce("demo/2", LogLevel::kWarn, "refused", {{"reason", "yama"}});
  EXPECT_EQ(Lines(), 4);
}

}  // namespace
}  // namespace mempulse
