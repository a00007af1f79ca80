// Each trap of the method: what must not become a confident wrong number. One simulated or hand-made sample
// each.
#include <cmath>
#include <limits>
#include <utility>

#include "exporter/analysis/invert_windows.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/unit/exporter/analysis/sweep_simulator.h"

namespace mempulse {

void PrintTo(const PageFrequency& page, std::ostream* out) {
  *out << PageStateName(page.state) << " " << page.frequency_hertz << " [" << page.low_hertz << ", "
       << page.high_hertz << "] weight " << page.weight;
  for (const RungCount& rung : page.rungs)
    *out << " " << rung.requested << ":" << rung.hits << "/" << rung.looks;
}

namespace {

using ::testing::AllOf;
using ::testing::Ge;
using ::testing::Le;

MATCHER_P(InState, state, "") { return arg.state == state; }
MATCHER_P(Brackets, hertz, "") { return arg.low_hertz <= hertz && arg.high_hertz >= hertz; }
MATCHER_P2(Near, hertz, relative, "") { return std::abs(arg.frequency_hertz / hertz - 1) <= relative; }

PageFrequency Only(const SweepSample& sample) {
  const FrequencyMap map = InvertWindows(sample);
  EXPECT_EQ(map.pages.size(), 1U);
  return map.pages.empty() ? PageFrequency() : map.pages[0];
}

SimulatedSweep Usual() {
  SimulatedSweep sweep;
  sweep.rungs = UsualRungs();
  return sweep;
}

void SetLoad(SweepSample* sample, size_t rung, double load) {
  sample->rungs[rung].hits_per_second = load / sample->target_seconds_per_hit;
}

TEST(ProbeCollapse, IsAFloorFromTheSaturatedRung) {
  SweepSample sample;
  sample.target_seconds_per_hit = 1.1e-6;
  sample.rungs.push_back(PlainRung(absl::Microseconds(50), 5000, {{FirstPage(), 5000}}));
  sample.rungs.push_back(PlainRung(absl::Microseconds(20), 5000, {{FirstPage(), 1500}}));
  SetLoad(&sample, 1, 0.5);
  const PageFrequency page = Only(sample);
  EXPECT_THAT(page, InState(PageState::kProbeLimited));
  EXPECT_NEAR(page.frequency_hertz, 20000, 2500);
  EXPECT_TRUE(std::isinf(page.high_hertz));
}

TEST(ProbeCollapse, WithoutLoadTheSameContradictionIsUnfit) {
  SweepSample sample;
  sample.target_seconds_per_hit = 1.1e-6;
  sample.rungs.push_back(PlainRung(absl::Microseconds(50), 5000, {{FirstPage(), 5000}}));
  sample.rungs.push_back(PlainRung(absl::Microseconds(20), 5000, {{FirstPage(), 1500}}));
  EXPECT_THAT(Only(sample), InState(PageState::kUnfit));
}

TEST(ProbeCollapse, LoadThatFitsWidensOnly) {
  SweepSample sample;
  sample.target_seconds_per_hit = 1.1e-6;
  sample.rungs.push_back(PlainRung(absl::Microseconds(50), 12, {{FirstPage(), 12}}));
  sample.rungs.push_back(PlainRung(absl::Microseconds(20), 5000, {{FirstPage(), 2000}}));
  SetLoad(&sample, 1, 0.26);
  const PageFrequency page = Only(sample);
  EXPECT_THAT(page, AllOf(InState(PageState::kMeasured), Near(20000, 0.02), Brackets(20000.0 / (1 - 0.26))));
}

TEST(DescheduledTarget, FlatOutPageUnderAQuotaIsAtCeiling) {
  SimulatedSweep sweep = Usual();
  sweep.cpu = {0.1, 0.33};
  EXPECT_THAT(Only(Simulate(sweep, {FlatOutWriter()})), InState(PageState::kAtCeiling));
}

TEST(DescheduledTarget, ContradictionIsSettledByBusyLooks) {
  SimulatedSweep sweep = Usual();
  sweep.cpu = {0.1, 0.33};
  sweep.promote_after = 0;  // every rung over the page, as a capture of one page has it
  SweepSample sample = Simulate(sweep, {FlatOutWriter()});
  for (size_t i = 1; i < sweep.rungs.size(); ++i) {
    SimulatedSweep one = sweep;
    one.rungs = {sweep.rungs[i]};
    sample.rungs[i] = Simulate(one, {FlatOutWriter()}).rungs[0];
  }
  const PageFrequency page = Only(sample);
  EXPECT_THAT(page, InState(PageState::kAtCeiling));
  EXPECT_GE(page.frequency_hertz, 1000);
  EXPECT_TRUE(page.saturated_at_reference);
}

TEST(DescheduledTarget, MissesOnTheOnlyRungGiveAFloor) {
  SweepSample sample;
  sample.target_seconds_per_hit = 1.1e-6;
  sample.rungs.push_back(PlainRung(absl::Milliseconds(20), 100, {{FirstPage(), 94}}));
  const PageFrequency page = Only(sample);
  EXPECT_THAT(page, InState(PageState::kAtCeiling)) << "800 Hz and 47 Hz look alike here";
  EXPECT_LE(page.frequency_hertz, 50);
  EXPECT_TRUE(std::isinf(page.high_hertz));
}

TEST(DescheduledTarget, TooFewBusyLooksSayIdle) {
  SweepSample sample;
  sample.rungs.push_back(PlainRung(absl::Milliseconds(20), 200, {{FirstPage(), 200}}));
  sample.rungs.push_back(PlainRung(absl::Milliseconds(1), 1000, {{FirstPage(), 12}}));
  for (RungSample& rung : sample.rungs) {
    for (Look& look : rung.looks) look.target_cpu = 0.33F;
    rung.pages[0].busy_looks = rung.pages[0].busy_hits = 0;
  }
  EXPECT_THAT(Only(sample), InState(PageState::kTargetIdle));
}

TEST(DescheduledTarget, SleepingProcessWithATimerStaysMeasured) {
  SimulatedSweep sweep = Usual();
  sweep.cpu = {0.2, 0.002};  // wakes five times a second
  EXPECT_THAT(Only(Simulate(sweep, {PeriodicWriter(5, 0.9999)})),
              AllOf(InState(PageState::kMeasured), Near(5.0, 0.01), Brackets(5.0)));
  sweep.cpu = {0.2, 0.2};  // and works 40 ms each time
  EXPECT_THAT(Only(Simulate(sweep, {PeriodicWriter(5, 0.9)})),
              AllOf(InState(PageState::kMeasured), Near(5.0, 0.01)));
}

// A writer in step with looks of constant length that pause in between is hit always or never.
TEST(PhaseLock, ConstantWindowsGiveNoNumber) {
  SimulatedSweep sweep = Usual();
  sweep.jitter = 0;
  for (SimulatedRung& rung : sweep.rungs) {
    if (rung.window_seconds > 0.004) continue;
    rung.burst_looks = 1;
    rung.pause_seconds = 0.005 - rung.window_seconds;
    rung.reset_after_pause = true;
  }
  for (int tenth = 0; tenth < 10; ++tenth) {
    const double phase = 0.05 + 0.1 * tenth;
    const PageFrequency page = Only(Simulate(sweep, {PeriodicWriter(200, phase)}));
    EXPECT_NE(page.state, PageState::kMeasured) << page.frequency_hertz;
    EXPECT_NE(page.state, PageState::kAtCeiling) << page.frequency_hertz;
    EXPECT_LE(page.low_hertz, 201);
  }
}

TEST(PhaseLock, LostWritesWithConstantWindowsAreUnfit) {
  SimulatedSweep sweep = Usual();
  sweep.jitter = 0;
  sweep.lost_seconds = 0.004;
  // The cycle divides the period nearly: the write drifts through the lost part and stays lost for seconds.
  const PageFrequency page = Only(Simulate(sweep, {PeriodicWriter(5.004, 0.2)}));
  EXPECT_FALSE(page.state == PageState::kMeasured && page.high_hertz < 5) << ::testing::PrintToString(page);
}

TEST(PhaseLock, JitterMakesItANumber) {
  SimulatedSweep sweep = Usual();
  sweep.lost_seconds = 0.001;
  EXPECT_THAT(Only(Simulate(sweep, {PeriodicWriter(5)})),
              AllOf(InState(PageState::kMeasured), Brackets(5.0)));
}

TEST(DoubleCount, ShortWindowsGiveNoNumberByThemselves) {
  SweepSample sample;
  sample.rungs.push_back(PlainRung(absl::Microseconds(2), 20000, {{FirstPage(), 1000}}));
  EXPECT_NE(Only(sample).state, PageState::kMeasured);
}

TEST(DoubleCount, IntervalReachesDownToTheTruth) {
  SweepSample sample;  // 97 kHz at 5.8 us read as 98.5 kHz; 20 kHz at 1.2 us as 2.7 times that
  sample.rungs.push_back(
      PlainRung(absl::Microseconds(20), 20, {{FirstPage(), 20}, {FirstPage() + kPageSize, 20}}));
  sample.rungs.push_back(PlainRung(absl::Nanoseconds(5800), 100000, {{FirstPage(), 57100}}));
  EXPECT_THAT(InvertWindows(sample).pages[0], AllOf(InState(PageState::kMeasured), Brackets(96800.0)));
}

TEST(RestoringWriter, FlatHitRateIsUnfit) {
  SweepSample sample;
  sample.tracker = TrackerKind::kHashDiff;
  sample.sees_restores = false;
  sample.rungs.push_back(PlainRung(absl::Milliseconds(20), 400, {{FirstPage(), 352}}));
  sample.rungs.push_back(PlainRung(absl::Milliseconds(5), 400, {{FirstPage(), 352}}));
  sample.rungs.push_back(PlainRung(absl::Milliseconds(1), 400, {{FirstPage(), 356}}));
  EXPECT_THAT(Only(sample), InState(PageState::kUnfit));
}

// A coin toss in every window, whatever its length: one rung alone could be a slow writer, but not so evenly
// spaced.
TEST(RestoringWriter, OneRungAloneIsUnfitToo) {
  for (double rate : {0.05, 0.3, 0.5, 0.7, 0.88}) {
    for (uint64_t seed = 1; seed < 20; ++seed) {
      SimulatedSweep sweep = Usual();
      sweep.seed = seed;
      std::mt19937_64 random(seed);
      std::bernoulli_distribution toss(rate);
      SweepSample sample = Simulate(sweep, {[&](double, double) { return toss(random); }});
      sample.sees_restores = false;
      EXPECT_NE(Only(sample).state, PageState::kMeasured)
          << rate << " " << ::testing::PrintToString(Only(sample));
    }
  }
}

TEST(RestoringWriter, HashDiffStillMeasuresTimers) {
  SweepSample sample = Simulate(Usual(), {PeriodicWriter(5), PeriodicWriter(400)});
  sample.sees_restores = false;
  const FrequencyMap map = InvertWindows(sample);
  ASSERT_EQ(map.pages.size(), 2U);
  EXPECT_THAT(map.pages[0], AllOf(InState(PageState::kMeasured), Near(5.0, 0.01)));
  EXPECT_THAT(map.pages[1], AllOf(InState(PageState::kMeasured), Near(400.0, 0.03)));
}

TEST(BurstyWriter, IsAFloorThatIsUnfit) {
  const PageFrequency page = Only(Simulate(Usual(), {BurstyWriter(1, 100, 1000)}));
  EXPECT_THAT(page, InState(PageState::kUnfit));
  EXPECT_LE(page.low_hertz, 100);
  EXPECT_TRUE(std::isinf(page.high_hertz));
}

TEST(BurstyWriter, WhichStopsAfterPromotionIsUnfit) {
  const PageFrequency page = Only(Simulate(Usual(), {[](double begin, double) { return begin < 0.25; }}));
  EXPECT_THAT(page, InState(PageState::kUnfit));
}

TEST(PoissonWriter, IntervalIsHonest) {
  for (double hertz : {3.0, 10.0, 30.0, 100.0, 800.0, 3000.0}) {
    int held = 0;
    for (uint64_t seed = 1; seed <= 40; ++seed) {
      SimulatedSweep sweep = Usual();
      sweep.seed = seed;
      const PageFrequency page = Only(Simulate(sweep, {PoissonWriter(hertz, 8.5, seed)}));
      held += page.low_hertz <= hertz && page.high_hertz >= hertz;
    }
    EXPECT_GE(held, 34) << hertz;
  }
}

TEST(DiscardedLooks, AreIgnoredEverywhere) {
  SweepSample sample = Simulate(Usual(), {PeriodicWriter(5)});
  const PageFrequency before = Only(sample);
  // Read faults and merged mappings make every page of a look read written; the sweep marks such looks.
  for (size_t i = 0; i < sample.rungs[0].looks.size(); i += 40) {
    Look odd;
    odd.discarded = true;
    odd.window_seconds = 3;
    sample.rungs[0].looks.insert(sample.rungs[0].looks.begin() + static_cast<std::ptrdiff_t>(i), odd);
    sample.rungs[0].pages[0].look_count += 1;
  }
  const PageFrequency after = Only(sample);
  EXPECT_THAT(after, AllOf(InState(PageState::kMeasured), Near(before.frequency_hertz, 0.03)));
}

TEST(SoftDirty, BracketHoldsTheTruth) {
  SimulatedSweep sweep;
  sweep.rungs = {{0.005}};
  sweep.lost_seconds = 0.0003;
  const PageFrequency page = Only(Simulate(sweep, {PeriodicWriter(170)}));
  EXPECT_THAT(page, AllOf(InState(PageState::kMeasured), Brackets(170.0), Near(170.0, 0.05)));
}

}  // namespace
}  // namespace mempulse
