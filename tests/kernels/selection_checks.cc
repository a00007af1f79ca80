// The exporter itself under permissions of each kind: which mechanism `auto` picks on this kernel, and what
// it says when there is none to pick.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "collectors/host/unique_fd.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/kernels/condition.h"
#include "tests/kernels/guest_kernel.h"
#include "tests/kernels/staged_process.h"

namespace mempulse {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr uint16_t kPort = 9834;
constexpr char kExporter[] = MEMPULSE_BINARY_DIR "/exporter/mempulse_exporter";

// The whole answer, head and body; empty when nobody listens.
std::string Get(const std::string& path) {
  const UniqueFd connection(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(kPort);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (connect(connection.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0) return "";
  const std::string request =
      absl::StrCat("GET ", path, " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
  if (send(connection.get(), request.data(), request.size(), MSG_NOSIGNAL) < 0) return "";
  std::string answer;
  char buffer[4096];
  for (ssize_t length = 0; (length = recv(connection.get(), buffer, sizeof(buffer), 0)) > 0;) {
    answer.append(buffer, static_cast<size_t>(length));
  }
  return answer;
}

std::string TrackerOf(const std::string& targets) {
  const size_t body = targets.find("\r\n\r\n");
  const nlohmann::json json =
      nlohmann::json::parse(body == std::string::npos ? "" : targets.substr(body + 4), nullptr, false);
  if (json.is_discarded()) return absl::StrCat("no JSON: ", targets);
  return json["targets"][0]["processes"][0]["tracker"];
}

std::string WriteConfiguration(pid_t target, bool attach) {
  const std::string path = absl::StrCat("/tmp/selection.", target, ".yml");
  std::ofstream(path) << "round:\n  interval: 2s\nweb:\n  listen_addresses: [\"127.0.0.1:" << kPort
                      << "\"]\ntargets:\n  - name: shop\n    pids: [" << target
                      << "]\n    attach: " << (attach ? "true" : "false") << "\n";
  return path;
}

StagedProgram StartExporter(const Condition& condition, bool attach, const std::string& program) {
  return StagedProgram(condition, [&](pid_t target) {
    return std::vector<std::string>{program,
                                    absl::StrCat("--config.file=", WriteConfiguration(target, attach))};
  });
}

// What /-/ready says once the first round has ended.
std::string WaitForFirstRound() {
  const absl::Time deadline = absl::Now() + absl::Seconds(60);
  std::string answer;
  while (absl::Now() < deadline) {
    answer = Get("/-/ready");
    if (!answer.empty() && !absl::StrContains(answer, "the first round has not ended") &&
        !absl::StrContains(answer, "no process has been swept yet")) {
      return answer;
    }
    absl::SleepFor(absl::Milliseconds(50));
  }
  return absl::StrCat("no round within a minute; last: ", answer);
}

// A page of metrics that has frequencies; the last one where none came.
std::string WaitForFrequencies() {
  const absl::Time deadline = absl::Now() + absl::Seconds(60);
  std::string metrics;
  while (absl::Now() < deadline && !absl::StrContains(metrics, "\nmempulse_pages_by_frequency{")) {
    metrics = Get("/metrics");
    absl::SleepFor(absl::Milliseconds(50));
  }
  return metrics;
}

struct Selection {
  const char* name;
  const char* exporter;
  const char* target;
  const char* settings;
  bool attach;
  const char* tracker;          // what `auto` picks
  const char* before_wp_async;  // and before Linux 6.7
};

constexpr Selection kSelections[] = {
    {"SameUserMayAttach", "same", "plain", "yama=0", true, "writeprotect", "softdirty"},
    {"SameUserMayNotAttach", "same", "plain", "yama=0", false, "softdirty", "softdirty"},
    {"RootMayAttach", "root", "plain", "yama=1", true, "writeprotect", "softdirty"},
    {"RootMayNotAttach", "root", "plain", "yama=1", false, "softdirty", "softdirty"},
    {"YamaLeavesSoftDirty", "same", "plain", "yama=1", true, "softdirty", "softdirty"},
    {"ContainersLeaveSoftDirty", "same docker", "docker", "yama=0", true, "softdirty", "softdirty"},
    {"TraceAndReadAttach", "other +SYS_PTRACE +DAC_READ_SEARCH", "plain", "yama=1", true, "writeprotect",
     "hashdiff"},
    {"TraceAndReadLeaveHashing", "other +SYS_PTRACE +DAC_READ_SEARCH", "plain", "yama=1", false, "hashdiff",
     "hashdiff"},
};

Condition ConditionOf(const std::string& exporter, const std::string& target, const std::string& settings) {
  Condition condition;
  EXPECT_EQ(ParseTarget(target, &condition) + ParseExporter(exporter, &condition) +
                ParseSettings(settings, &condition),
            "");
  return condition;
}

class SelectionTest : public testing::TestWithParam<Selection> {};

TEST_P(SelectionTest, AutoPicks) {
  const Selection& selection = GetParam();
  const Condition condition = ConditionOf(selection.exporter, selection.target, selection.settings);
  ASSERT_TRUE(ApplySettings(condition));
  const StagedProgram exporter = StartExporter(condition, selection.attach, kExporter);
  EXPECT_THAT(WaitForFirstRound(), HasSubstr(" 200 "));
  const std::string wanted = ReadGuestKernel().has_wp_async() ? selection.tracker : selection.before_wp_async;
  const std::string metrics = WaitForFrequencies();
  EXPECT_THAT(metrics, HasSubstr("\nmempulse_pages_by_frequency{"));
  EXPECT_EQ(TrackerOf(Get("/api/v1/targets")), wanted);
  EXPECT_THAT(metrics, HasSubstr(absl::StrCat("mempulse_target_tracker_supported{target=\"shop\",tracker=\"",
                                              wanted, "\",reason=\"ok\"} 1")));
}

INSTANTIATE_TEST_SUITE_P(Exporter, SelectionTest, testing::ValuesIn(kSelections),
                         [](const testing::TestParamInfo<Selection>& row) {
                           return std::string(row.param.name);
                         });

void ExpectNoFrequencies(const std::string& metrics) {
  EXPECT_THAT(metrics, HasSubstr("mempulse_rounds_total"));
  for (const char* family : {"mempulse_page_write_frequency_hertz", "mempulse_pages_by_", "mempulse_ceiling_",
                             "mempulse_hottest_page_hertz", "mempulse_region_", "mempulse_written_pages",
                             "mempulse_tracked_pages", "mempulse_tracker_info", "mempulse_rung_"}) {
    EXPECT_THAT(metrics, Not(HasSubstr(absl::StrCat("\n", family)))) << "a figure that nobody measured";
  }
}

std::string Supported(const std::string& family, const std::string& tracker, const std::string& reason) {
  const std::string target = family == "mempulse_target_tracker_supported" ? "target=\"shop\"," : "";
  return absl::StrCat(family, "{", target, "tracker=\"", tracker, "\",reason=\"", reason, "\"} 0");
}

TEST(SelectionTest, NothingToPickOnTheTarget) {
  const Condition condition = ConditionOf("other", "plain", "yama=1");
  ASSERT_TRUE(ApplySettings(condition));
  const StagedProgram exporter = StartExporter(condition, true, kExporter);
  const std::string ready = WaitForFirstRound();
  EXPECT_THAT(ready, HasSubstr(" 503 "));
  EXPECT_THAT(ready, HasSubstr("no page tracker works on the one process that was found"));
  EXPECT_THAT(ready, HasSubstr("shop: softdirty does not work on 1 process (other_user)"));
  EXPECT_THAT(ready, HasSubstr("the target runs as uid 1000, the exporter as uid 1001"));
  EXPECT_THAT(
      ready,
      HasSubstr("run the exporter as uid 1000 and gid 1000, or add CAP_SYS_PTRACE and CAP_DAC_OVERRIDE"));
  EXPECT_THAT(ready, HasSubstr("shop: hashdiff does not work on 1 process (other_user)"));
  const std::string metrics = Get("/metrics");
  ExpectNoFrequencies(metrics);
  const char* const wp_reason = ReadGuestKernel().has_wp_async() ? "other_user" : "kernel";
  EXPECT_THAT(ready,
              HasSubstr(absl::StrCat("shop: writeprotect does not work on 1 process (", wp_reason, ")")));
  EXPECT_THAT(metrics, HasSubstr(Supported("mempulse_target_tracker_supported", "writeprotect", wp_reason)));
  EXPECT_THAT(metrics, HasSubstr(Supported("mempulse_target_tracker_supported", "softdirty", "other_user")));
  EXPECT_THAT(metrics, HasSubstr(Supported("mempulse_target_tracker_supported", "hashdiff", "other_user")));
}

// A program that its user may run but not read is not even shown its own files: no mechanism proves itself.
TEST(SelectionTest, NothingToPickAnywhere) {
  const std::string program = "/tmp/unreadable_exporter";
  std::filesystem::copy_file(kExporter, program, std::filesystem::copy_options::overwrite_existing);
  std::filesystem::permissions(program, std::filesystem::perms(0711));
  const Condition condition = ConditionOf("same", "plain", "yama=0");
  ASSERT_TRUE(ApplySettings(condition));
  const StagedProgram exporter = StartExporter(condition, true, program);
  const std::string ready = WaitForFirstRound();
  EXPECT_THAT(ready, HasSubstr(" 503 "));
  EXPECT_THAT(ready, HasSubstr("the exporter cannot open its own files"));
  const std::string metrics = Get("/metrics");
  ExpectNoFrequencies(metrics);
  for (const char* tracker : {"writeprotect", "softdirty", "hashdiff"}) {
    EXPECT_THAT(metrics, HasSubstr(Supported("mempulse_tracker_supported", tracker, "not_dumpable")));
  }
}

}  // namespace
}  // namespace mempulse
