#include "config/load_options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>

#include "absl/strings/str_cat.h"
#include "tests/unit/config/config_files.h"

namespace mempulse {
namespace {

using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;

Options Parsed(absl::string_view yaml) {
  absl::StatusOr<Options> options = ParseOptions(yaml, "config.yml");
  EXPECT_EQ(options.status(), absl::OkStatus());
  return options.ok() ? *options : Options{};
}

std::string Errors(absl::string_view yaml) {
  return std::string(ParseOptions(yaml, "config.yml").status().message());
}

TEST(LoadOptionsTest, EmptyFileGivesTheDefaults) {
  EXPECT_EQ(Parsed(""), Options{});
  EXPECT_EQ(Parsed("# only a comment\n"), Options{});
  EXPECT_EQ(Parsed("{}"), Options{});
}

TEST(LoadOptionsTest, EveryKeyReachesItsField) {
  const Options options = Parsed(SourceText("tests/configs/every_key.good.yml"));
  Options expected;
  expected.sweep = {.windows = {absl::Seconds(10), absl::Milliseconds(20), absl::Microseconds(100)},
                    .fine_windows = {absl::Microseconds(99), absl::Microseconds(10)},
                    .ceiling_window = absl::Milliseconds(20),
                    .jitter = 0.5,
                    .budget = 1,
                    .burst_limit = 0.001,
                    .target_time_limit = absl::Milliseconds(1500),
                    .max_pages = uint64_t{1} << 32,
                    .cross_check_pages = 0,
                    .include_shared = true,
                    .include_huge = false};
  expected.round = {absl::Milliseconds(100), absl::Hours(24), 256};
  expected.web.listen_addresses = {":0", "127.0.0.1:1", "[::1]:65535", "[::ffff:1.2.3.4]:80",
                                   "a-b.example:80"};
  expected.web.telemetry_path = "/a/b_c.d-e~f";
  expected.web.max_requests = 1;
  expected.web.max_connections_per_address = 10000;
  expected.web.exporter_metrics = false;
  expected.web.reload_endpoint = false;
  expected.limits = {100, 0};
  expected.log = {"debug", "json"};
  expected.path = {"/host/proc", "/host/sys"};
  TargetGroupOptions group;
  group.name = "A.b_c-9";
  group.pids = {1, 4194304};
  group.pid_files = {"/run/a.pid", "b.pid"};
  group.comms = {"123", "yes", "exactly15bytes_"};
  group.exes = {"/usr/bin/a b"};
  group.command_lines = {"^/usr/bin/(a|b)+ --x=[[:digit:]]{1,3}\\.$"};
  group.cgroups = {"/a/*/b?", "**/[!x]y", "/[]]", "/a\\[b"};
  group.children = true;
  group.exclude = {{2}, {"sh"}, {"/bin/sh"}, {"--help"}, {"/user.slice/**"}};
  group.max_processes = 3;
  group.attach = AttachChoice::kInject;
  group.tracker = TrackerChoice::kWriteProtect;
  group.sweep = expected.sweep;
  group.sweep.jitter = 0;
  group.sweep.include_huge = true;
  expected.attach_socket = "/run/a b.sock";
  TargetGroupOptions second;
  second.name = "second";
  second.pids = {9};
  second.tracker = TrackerChoice::kHashDiff;
  second.sweep = expected.sweep;
  expected.targets = {group, second};
  EXPECT_EQ(options, expected);
}

TEST(LoadOptionsTest, AGroupsSweepStartsFromTheFilesWhereverThatStands) {
  const Options options = Parsed(
      "targets:\n"
      "  - {name: a, pids: 1, sweep: {jitter: 10%}}\n"
      "  - {name: b, pids: 2}\n"
      "sweep: {budget: 2%, windows: [5ms, 1ms], ceiling_window: 1ms}\n");
  ASSERT_EQ(options.targets.size(), 2u);
  EXPECT_EQ(options.targets[0].sweep.budget, 0.02);
  EXPECT_EQ(options.targets[0].sweep.jitter, 0.1);
  EXPECT_THAT(options.targets[0].sweep.windows, ElementsAre(absl::Milliseconds(5), absl::Milliseconds(1)));
  EXPECT_EQ(options.targets[1].sweep, options.sweep);
}

TEST(LoadOptionsTest, ASingleValueIsAListOfOne) {
  const Options options = Parsed(SourceText("tests/configs/single_values.good.yml"));
  EXPECT_THAT(options.targets[0].pids, ElementsAre(4242));
  EXPECT_THAT(options.targets[0].exclude.cgroups, ElementsAre("/user.slice/**"));
  EXPECT_THAT(options.sweep.windows, ElementsAre(absl::Milliseconds(5)));
  EXPECT_THAT(options.sweep.fine_windows, ElementsAre());
}

TEST(LoadOptionsTest, AnAliasStandsForACopy) {
  const Options options = Parsed(SourceText("tests/configs/anchors.good.yml"));
  ASSERT_EQ(options.targets.size(), 2u);
  EXPECT_EQ(options.targets[1].exclude, options.targets[0].exclude);
  EXPECT_EQ(options.targets[1].sweep.budget, 0.001);
}

TEST(LoadOptionsTest, CountsAliasedValuesAgainstTheLimit) {
  std::string yaml = "a: &a [x";
  for (int i = 1; i < 1000; ++i) yaml += ",x";
  yaml += "]\n";
  std::string more = yaml;
  for (int i = 0; i < 8; ++i) yaml += absl::StrCat("b", i, ": *a\n");
  EXPECT_THAT(Errors(yaml), HasSubstr("unknown key \"b7\""));
  for (int i = 0; i < 9; ++i) more += absl::StrCat("b", i, ": *a\n");
  EXPECT_EQ(Errors(more), "config.yml:10: the file holds more than 10000 values");
}

TEST(LoadOptionsTest, TellsAllErrorsInTheOrderOfTheFile) {
  EXPECT_EQ(Errors("targets:\n"
                   "  - {name: a, pids: 0}\n"
                   "sweep:\n"
                   "  jitter: 90%\n"
                   "x: 1\n"),
            "config.yml:2: targets[0].pids: 0 is outside 1 to 4194304\n"
            "config.yml:4: sweep.jitter: \"90%\" is outside 0% to 50%\n"
            "config.yml:5: unknown key \"x\"; known are sweep, round, web, limits, log, path, "
            "attach_socket, targets");
}

TEST(LoadOptionsTest, OneMistakeInWindowsIsToldOnce) {
  EXPECT_EQ(Errors("sweep: {windows: [20ms, 5], ceiling_window: 5ms}\n"),
            "config.yml:1: sweep.windows[1]: \"5\" has no unit; say the unit, e.g. 5ms");
}

TEST(LoadOptionsTest, ErrorsStayOnOneLineAndShort) {
  const std::string errors = Errors(absl::StrCat("\"a\\nb\\t", std::string(900, 'k'), "\": 1\n"));
  EXPECT_THAT(errors, HasSubstr("unknown key \"a\\nb\\tkkk"));
  EXPECT_EQ(errors.find('\n'), std::string::npos);
  EXPECT_LT(errors.size(), 250u);
}

TEST(LoadOptionsTest, RefusesAFileOverOneMebibyte) {
  EXPECT_EQ(Parsed(std::string(1 << 20, '\n')), Options{});
  EXPECT_EQ(Errors(std::string((1 << 20) + 1, '\n')), "config.yml:1: the file is larger than 1 MiB");
  EXPECT_EQ(LoadOptions("/dev/zero").status().message(), "/dev/zero:1: the file is larger than 1 MiB");
}

TEST(LoadOptionsTest, SaysWhyAFileCannotBeRead) {
  EXPECT_EQ(LoadOptions("/nowhere/config.yml").status().message(),
            "/nowhere/config.yml: No such file or directory");
  EXPECT_EQ(LoadOptions("/").status().message(), "/: Is a directory");
  EXPECT_EQ(LoadOptions("/").status().code(), absl::StatusCode::kInvalidArgument);
}

TEST(LoadOptionsTest, ReadsAFileAndCallsItByItsPath) {
  const std::string path = absl::StrCat(::testing::TempDir(), "load_options_test.yml");
  std::ofstream(path) << "round: {interval: 5s, worker: 2}\n";
  EXPECT_THAT(
      std::string(LoadOptions(path).status().message()),
      EndsWith("load_options_test.yml:1: unknown key \"worker\" in round; did you mean \"workers\"?"));
  std::ofstream(path) << "round: {interval: 5s}\n";
  EXPECT_EQ(LoadOptions(path)->round.interval, absl::Seconds(5));
  std::remove(path.c_str());
}

}  // namespace
}  // namespace mempulse
