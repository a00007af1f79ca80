// One workload under every tracker of the kernel, in real time: what each of them says about the same pages,
// beside what the writer counted itself.
#include <cmath>
#include <cstdio>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "collectors/host/process_cpu.h"
#include "collectors/pages/sweep.h"
#include "collectors/pages/tracker_probe.h"
#include "exporter/analysis/invert_windows.h"
#include "gtest/gtest.h"
#include "tests/kernels/guest_kernel.h"
#include "tests/kernels/paced_writer.h"
#include "tests/kernels/softdirty_subject.h"
#include "tests/workloads/writer_loop.h"

namespace mempulse {
namespace {

constexpr double kTolerance = 1.25;       // agreement_checks.cc is the strict one, in virtual time
constexpr double kFloorTolerance = 1.25;  // of what is claimed although the writer did not keep its pace
constexpr int64_t kMostPauseNanos = 5'000'000;
constexpr absl::Duration kSpread = absl::Seconds(2);

std::vector<Population> Tiers() {
  return {{"flat out", kFlatOut, 2}, {"200 Hz", 200, 4}, {"50 Hz", 50, 4}, {"5 Hz", 5, 4}, {"once", 0, 8}};
}

// What one sweep says about one tier.
struct Answer {
  std::string tracker;
  size_t tier = 0;
  bool hit = false;
  PageState state = PageState::kTooFew;
  double frequency = 0;
  double low = 0;
  double high = INFINITY;
  double truth = 0;
  bool kept_pace = false;

  // The claim that must hold whatever the machine does.
  bool OverClaims(double nominal) const {
    return hit && !std::isinf(nominal) && low > kFloorTolerance * std::max(truth, nominal);
  }
  bool Holds() const { return hit && low <= truth * kTolerance && high >= truth / kTolerance; }
  bool LossIsSaid() const {
    return state != PageState::kMeasured && state != PageState::kAtCeiling && low <= truth * kTolerance;
  }
};

class Replay : public ::testing::Test {
 protected:
  Replay() : own_(ProbeTrackers(host_)), writer_(Tiers()), target_(OpenTarget(host_, writer_.pid())) {}

  SweepRequest Request(uint64_t seed) const {
    SweepRequest request;
    request.options.burst_limit = 0.5;
    request.options.include_shared = false;
    request.spread = kSpread;
    request.target_seconds = 1;
    request.own_seconds = 2;
    request.own_burst = 0.5;
    request.seed = seed;
    request.open_gap = false;
    const uint64_t first = writer_.AddressOf(0);
    request.only = {{first, writer_.AddressOf(writer_.populations().size() - 1) + 8 * kPageSize}};
    return request;
  }

  // Empty when the tracker cannot be used here; `kind` receives which one it was.
  std::vector<Answer> Sweep(TrackerChoice choice, uint64_t seed, std::string* kind = nullptr) {
    std::vector<Answer> answers;
    absl::StatusOr<ChosenTracker> chosen = OpenTracker(host_, target_, own_, choice, true);
    if (!chosen.ok() || chosen->tracker == nullptr) return answers;
    SystemClock clock;
    SweepTarget door;
    door.mappings = [this] {
      bool truncated = false;
      return ReadMappings(host_, writer_.pid(), &truncated);
    };
    door.cpu_nanos = [this] { return ProcessCpuNanos(writer_.pid()); };
    mempulse::Sweep sweep(*chosen->tracker, clock, std::move(door));
    const int64_t begin = NowNanos();
    const absl::StatusOr<mempulse::Sweep::Result> result = sweep.Run(Request(seed), std::stop_token());
    const int64_t end = NowNanos();
    EXPECT_TRUE(result.ok()) << result.status();
    if (!result.ok()) return answers;
    EXPECT_TRUE(result->end.ok()) << result->end;
    const FrequencyMap map = InvertWindows(result->sample);
    const std::string name(TrackerKindName(chosen->tracker->kind()));
    if (kind != nullptr) *kind = name;
    for (size_t tier = 0; tier < writer_.populations().size(); ++tier) {
      answers.push_back(AnswerOf(map, tier, writer_.Between(tier, begin, end)));
      answers.back().tracker = name;
    }
    return answers;
  }

  Answer AnswerOf(const FrequencyMap& map, size_t tier, const PacedWriter::Truth& truth) const {
    const double nominal = writer_.populations()[tier].hertz;
    Answer answer;
    answer.tier = tier;
    answer.truth = truth.hertz;
    const bool on_time =
        std::isinf(nominal) || std::abs(truth.hertz - nominal) <= std::max(nominal * 0.03, 0.6);
    answer.kept_pace = on_time && truth.missed == 0 && truth.longest_pause_nanos <= kMostPauseNanos;
    // A short sweep holds few whole periods of a slow writer.
    if (answer.kept_pace && !std::isinf(nominal)) answer.truth = nominal;
    for (const PageFrequency& page : map.pages) {
      if (page.address != writer_.AddressOf(tier)) continue;
      answer.hit = true;
      answer.state = page.state;
      answer.frequency = page.frequency_hertz;
      answer.low = page.low_hertz;
      answer.high = page.high_hertz;
    }
    return answer;
  }

  void Print(const Answer& answer) const {
    std::printf("%-13s %-9s %-13s %9.4g Hz [%.4g, %.4g]  writer %.4g Hz%s\n", answer.tracker.c_str(),
                writer_.populations()[answer.tier].name.c_str(),
                answer.hit ? std::string(PageStateName(answer.state)).c_str() : "never hit", answer.frequency,
                answer.low, answer.high, answer.truth, answer.kept_pace ? "" : ", did not keep its pace");
  }

  Host host_;
  std::vector<TrackerSupport> own_;
  PacedWriter writer_;
  Target target_;
};

// Of one tracker and tier, over the runs.
struct Score {
  int runs = 0;
  int kept = 0;
  int held = 0;  // of the kept ones
  int said = 0;  // of the kept ones, those that did not hold and said that evidence was lost
};

void Count(const Answer& answer, double nominal, Score* score) {
  ++score->runs;
  EXPECT_FALSE(answer.OverClaims(nominal))
      << answer.tracker << ", tier " << answer.tier << ": " << answer.low;
  if (!answer.kept_pace) return;
  ++score->kept;
  if (answer.Holds()) {
    ++score->held;
  } else if (answer.LossIsSaid()) {
    ++score->said;
  }
}

// An interval misses now and then, and a pause of the machine leaves no trace in the writer's own count: most
// runs have to hold.
void ExpectMostHold(const std::string& what, const Score& score) {
  if (score.kept < 3) return;
  EXPECT_GE(2 * (score.held + score.said), score.kept) << what;
}

TEST_F(Replay, SoftDirtyInTenRuns) {
  std::map<size_t, Score> scores;
  for (uint64_t run = 1; run <= 10; ++run) {
    const std::vector<Answer> answers = Sweep(TrackerChoice::kSoftDirty, run);
    ASSERT_FALSE(answers.empty()) << "soft-dirty cannot be used";
    for (const Answer& answer : answers) {
      Count(answer, writer_.populations()[answer.tier].hertz, &scores[answer.tier]);
    }
  }
  for (const auto& [tier, score] : scores) {
    const std::string& name = writer_.populations()[tier].name;
    if (writer_.populations()[tier].hertz == 0) continue;
    std::printf(
        "softdirty %-9s the writer kept its pace in %d of %d runs; held in %d of those, lost with a reason "
        "in %d\n",
        name.c_str(), score.kept, score.runs, score.held, score.said);
    if (!std::isinf(writer_.populations()[tier].hertz)) ExpectMostHold(name, score);
  }
}

TEST_F(Replay, EveryTrackerOnTheSamePages) {
  constexpr uint64_t kRuns = 3;
  std::map<std::string, std::vector<std::vector<Answer>>> runs;  // by tracker
  for (const TrackerChoice choice :
       {TrackerChoice::kSoftDirty, TrackerChoice::kWriteProtect, TrackerChoice::kHashDiff}) {
    for (uint64_t run = 1; run <= kRuns; ++run) {
      std::string kind;
      const std::vector<Answer> answers = Sweep(choice, run, &kind);
      if (!answers.empty()) runs[kind].push_back(answers);
    }
  }
  EXPECT_EQ(runs.count("writeprotect") == 1, ReadGuestKernel().has_wp_async());
  EXPECT_EQ(runs.count("softdirty"), 1u);
  EXPECT_EQ(runs.count("hashdiff"), 1u);
  for (const auto& [kind, all] : runs) {
    for (size_t tier = 0; tier < writer_.populations().size(); ++tier) {
      const double nominal = writer_.populations()[tier].hertz;
      Score score;
      for (const std::vector<Answer>& answers : all) Count(answers[tier], nominal, &score);
      Print(all.back()[tier]);
      if (nominal > 0 && !std::isinf(nominal)) {
        ExpectMostHold(absl::StrCat(kind, ", ", writer_.populations()[tier].name), score);
      }
    }
  }
  if (runs.count("writeprotect") == 0) return;
  for (size_t tier = 1; tier + 1 < writer_.populations().size(); ++tier) {
    int asked = 0;
    int agree = 0;
    for (size_t run = 0; run < kRuns; ++run) {
      const Answer& a = runs["softdirty"][run][tier];
      const Answer& b = runs["writeprotect"][run][tier];
      if (!a.kept_pace || !b.kept_pace || !a.hit || !b.hit) continue;
      ++asked;
      agree += a.low <= b.high * kTolerance && b.low <= a.high * kTolerance ? 1 : 0;
    }
    std::printf(
        "softdirty and writeprotect on %-7s agree in %d of %d runs in which the writer kept its pace\n",
        writer_.populations()[tier].name.c_str(), agree, asked);
    if (asked < 2) continue;
    EXPECT_GE(2 * agree, asked) << writer_.populations()[tier].name;
  }
}

TEST_F(Replay, AutoTakesTheFinestThatWorks) {
  std::string kind;
  Sweep(TrackerChoice::kAuto, 1, &kind);
  EXPECT_EQ(kind, ReadGuestKernel().has_wp_async() ? "writeprotect" : "softdirty");
}

}  // namespace
}  // namespace mempulse
