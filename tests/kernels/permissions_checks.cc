// What doctor says under every condition of permissions.tsv, on the kernel at hand: each cell against the
// table, what works opened for real, and each remedy followed.
#include <algorithm>
#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "tests/kernels/condition.h"
#include "tests/kernels/doctor_answers.h"
#include "tests/kernels/guest_kernel.h"
#include "tests/kernels/permissions_table.h"
#include "tests/kernels/remedy.h"
#include "tests/kernels/staged_process.h"

namespace mempulse {
namespace {

using Json = nlohmann::json;

constexpr char kControl[] = MEMPULSE_BINARY_DIR "/exporter/mempulsectl";
constexpr const char* kMechanisms[] = {"writeprotect", "softdirty", "hashdiff"};
Doctors& AllDoctors() {
  static Doctors doctors;
  return doctors;
}

StagedProgram StartSweep(const Condition& condition, const std::string& mechanism,
                         const std::string& duration) {
  return StagedProgram(condition, [&](pid_t target) {
    return std::vector<std::string>{kControl,  "sweep", "--json", "--tracker",
                                    mechanism, "-d",    duration, absl::StrCat(target)};
  });
}

// Empty when the sweep saw the writes of the target.
std::string SweepProblem(const std::string& mechanism, StagedProgram sweep) {
  const ProgramEnd end = sweep.Wait();
  const Json json = Json::parse(end.output, nullptr, false);
  if (end.status != 0 || json.is_discarded()) return absl::StrCat("status ", end.status, ": ", end.errors);
  if (json["tracker"] != mechanism) return absl::StrCat("another tracker: ", json["tracker"].dump());
  if (json["written_pages"].get<double>() > 0) return "";
  return absl::StrCat("no written page of ", json["tracked_pages"].dump());
}

// Opens for real what is said to work, all at once, each on a target of its own; longer where a slow machine
// saw nothing.
int OpenMechanisms(const Condition& condition, const Diagnosis& diagnosis) {
  std::vector<std::pair<std::string, StagedProgram>> sweeps;
  for (const char* mechanism : kMechanisms) {
    if (diagnosis.cells.at(mechanism).verdict != "yes") continue;
    sweeps.emplace_back(mechanism, StartSweep(condition, mechanism, "100ms"));
  }
  for (auto& [mechanism, sweep] : sweeps) {
    std::string problem = SweepProblem(mechanism, std::move(sweep));
    for (const char* duration : {"500ms", "2s", "8s"}) {
      if (problem.empty()) break;
      problem = SweepProblem(mechanism, StartSweep(condition, mechanism, duration));
    }
    EXPECT_EQ(problem, "") << mechanism;
  }
  return static_cast<int>(sweeps.size());
}

void CheckFacts(const Condition& condition, const Diagnosis& diagnosis) {
  EXPECT_EQ(diagnosis.json["kernel"]["yama_ptrace_scope"], condition.yama_scope);
  EXPECT_EQ(diagnosis.json["kernel"]["perf_event_paranoid"], condition.perf_event_paranoid);
  EXPECT_EQ(diagnosis.json["user"]["uid"],
            condition.exporter.own_user_namespace ? 0 : condition.exporter.uid);
  if (!condition.exporter.own_user_namespace) {
    EXPECT_EQ(diagnosis.json["capabilities"].size(),
              static_cast<size_t>(__builtin_popcountll(condition.exporter.capabilities)));
  }
  const bool wp = ReadGuestKernel().has_wp_async();
  const bool filtered = condition.exporter.filter != ContainerFilter::kNone;
  const std::string with_wp = filtered ? "seccomp" : "yes";
  EXPECT_EQ(diagnosis.own.at("writeprotect").verdict, wp ? with_wp : "kernel");
  EXPECT_EQ(diagnosis.own.at("softdirty").verdict, "yes");
  EXPECT_EQ(diagnosis.own.at("hashdiff").verdict, "yes");
}

struct Treatment {
  RemedyWay way;
  std::vector<std::string> cells;  // that name it as their remedy
};

std::vector<Treatment> TreatmentsOf(const Condition& condition, const Diagnosis& diagnosis) {
  std::map<std::string, std::vector<std::string>> cells_of;
  for (const char* cell : kCells) {
    const Answer& answer = diagnosis.cells.at(cell);
    if (answer.verdict == "yes") continue;
    EXPECT_FALSE(answer.remedy.empty()) << cell << " has no remedy: " << answer.detail;
    cells_of[answer.remedy].push_back(cell);
  }
  std::vector<Treatment> treatments;
  for (const auto& [remedy, cells] : cells_of) {
    for (const RemedyWay& way : WaysOf(remedy, condition)) {
      if (!way.understood) ADD_FAILURE() << "a remedy that nobody can follow: " << way.text;
      if (way.understood && !way.not_here) treatments.push_back({way, cells});
    }
  }
  return treatments;
}

// Each way of each remedy, done: what names it as its remedy works then.
int FollowRemedies(const Condition& condition, const Diagnosis& diagnosis) {
  const std::vector<Treatment> treatments = TreatmentsOf(condition, diagnosis);
  std::vector<Condition> conditions;
  for (const Treatment& treatment : treatments) {
    if (!treatment.way.use_softdirty) conditions.push_back(treatment.way.condition);
  }
  AllDoctors().AskAll(conditions);
  for (const auto& [way, cells] : treatments) {
    if (way.use_softdirty) {
      EXPECT_EQ(diagnosis.cells.at("softdirty").verdict, "yes") << way.text;
      continue;
    }
    const Diagnosis* const after = AllDoctors().Of(way.condition);
    if (after == nullptr) continue;
    for (const std::string& cell : cells) {
      const auto answer = after->cells.find(cell);
      if (answer == after->cells.end()) continue;  // doctor itself failed, and that was said
      EXPECT_EQ(answer->second.verdict, "yes")
          << cell << " after \"" << way.text << "\": " << answer->second.detail << "; "
          << answer->second.remedy;
    }
  }
  return static_cast<int>(treatments.size());
}

class PermissionsTest : public testing::TestWithParam<int> {
 public:
  static const std::vector<PermissionsRow>& Rows() {
    static const std::vector<PermissionsRow> rows = ReadPermissionsTable();
    return rows;
  }
};

TEST_P(PermissionsTest, DoctorTellsTheTruth) {
  const PermissionsRow& row = Rows()[static_cast<size_t>(GetParam())];
  ASSERT_EQ(row.problem, "");
  AllDoctors().AskAll({row.condition});
  const Diagnosis* const diagnosis = AllDoctors().Of(row.condition);
  ASSERT_NE(diagnosis, nullptr) << "the settings were refused";
  ASSERT_FALSE(diagnosis->cells.empty());
  CheckFacts(row.condition, *diagnosis);
  for (const auto& [cell, expected] : row.expected) {
    const Answer& answer = diagnosis->cells.at(cell);
    EXPECT_EQ(answer.verdict, expected) << cell << ": " << answer.detail << "; " << answer.remedy;
  }
  ASSERT_TRUE(ApplySettings(row.condition));
  const int opened = OpenMechanisms(row.condition, *diagnosis);
  const int followed = FollowRemedies(row.condition, *diagnosis);
  std::printf("%s: %d opened, %d remedies followed\n", row.name.c_str(), opened, followed);
}

INSTANTIATE_TEST_SUITE_P(Conditions, PermissionsTest,
                         testing::Range(0, static_cast<int>(PermissionsTest::Rows().size())),
                         [](const testing::TestParamInfo<int>& row) {
                           std::string name = PermissionsTest::Rows()[static_cast<size_t>(row.param)].name;
                           name.erase(std::remove(name.begin(), name.end(), '='), name.end());
                           for (char& letter : name) letter = absl::ascii_isalnum(letter) ? letter : '_';
                           return name;
                         });

TEST(PermissionsTable, HasRowsForThisKernel) { EXPECT_GT(PermissionsTest::Rows().size(), 30u); }

}  // namespace
}  // namespace mempulse
