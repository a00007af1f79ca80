// The published experiment on simulated processes, from looks to findings: the control must be silent, the
// detection must speak, again with every page at another place.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "exporter/analysis/compare_to_baseline.h"
#include "exporter/analysis/invert_windows.h"
#include "exporter/analysis/persistence.h"
#include "exporter/analysis/scores.h"
#include "tests/unit/exporter/analysis/sweep_simulator.h"

namespace mempulse {
namespace {

// A busy background, as a restart would lay it out: the order of the pages, their phases and the sweep's
// jitter are new.
RunProfile SweepOf(uint64_t seed, double busier = 1, int injected = 0) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> unit(0, 1);
  std::vector<Writer> writers;
  const auto add = [&](int pages, double hertz) {
    for (int i = 0; i < pages; ++i) writers.push_back(PeriodicWriter(hertz * busier, unit(random)));
  };
  for (int i = 0; i < 4; ++i) writers.push_back(FlatOutWriter());
  add(8, 200);
  add(20, 25);
  add(8, 5);
  add(injected, 800 / busier);
  std::shuffle(writers.begin(), writers.end(), random);
  SimulatedSweep sweep;
  sweep.rungs = UsualRungs();
  sweep.seconds = 6;
  sweep.seed = seed;
  const SweepSample sample = Simulate(sweep, writers);
  RunFacts facts;
  facts.conditions.tracker = "writeprotect";
  return MakeRunProfile(InvertWindows(sample), sample.regions, facts);
}

class ExperimentTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    baseline_ = new Baseline;
    for (uint64_t seed = 1; seed <= 20; ++seed) baseline_->runs.push_back(SweepOf(seed));
    baseline_->conditions = baseline_->runs[0].conditions;
    envelope_ = new BaselineEnvelope(EnvelopeOf(*baseline_));
    reference_ = new ReferenceScores(ReferenceScores::Of(*baseline_, *envelope_, {}));
  }
  static void TearDownTestSuite() {
    delete reference_;
    delete envelope_;
    delete baseline_;
  }
  static std::vector<Suspicion> SuspicionsIn(const RunProfile& live, Comparison* comparison) {
    *comparison = CompareToBaseline(live, *baseline_, *envelope_);
    return SuspicionsOf(*comparison, reference_->Score(*comparison), reference_->runs());
  }
  static Baseline* baseline_;
  static BaselineEnvelope* envelope_;
  static ReferenceScores* reference_;
};

Baseline* ExperimentTest::baseline_ = nullptr;
BaselineEnvelope* ExperimentTest::envelope_ = nullptr;
ReferenceScores* ExperimentTest::reference_ = nullptr;

TEST_F(ExperimentTest, TheControlIsSilent) {
  Persistence persistence(2, 3);
  size_t suspicions = 0;
  for (uint64_t seed = 1000; seed < 1100; ++seed) {
    Comparison comparison;
    const std::vector<Suspicion> found = SuspicionsIn(SweepOf(seed), &comparison);
    EXPECT_EQ(comparison.incomparable, "");
    EXPECT_TRUE(comparison.novel.empty());
    suspicions += found.size();
    EXPECT_TRUE(persistence.Add(found, absl::FromUnixSeconds(static_cast<int64_t>(seed) * 15)).empty());
  }
  printf("100 control sweeps: %zu suspicions, 0 findings\n", suspicions);
}

TEST_F(ExperimentTest, TwoPagesAt800HertzAreFoundWithinTwoSweeps) {
  for (uint64_t seed = 2000; seed < 2050; ++seed) {
    Persistence persistence(2, 3);
    Comparison comparison;
    persistence.Add(SuspicionsIn(SweepOf(seed, 1, 2), &comparison), absl::FromUnixSeconds(0));
    EXPECT_EQ(comparison.whole.over_pages, 2u) << seed;
    const auto findings =
        persistence.Add(SuspicionsIn(SweepOf(seed + 5000, 1, 2), &comparison), absl::FromUnixSeconds(15));
    EXPECT_FALSE(findings.empty()) << seed;
  }
}

TEST_F(ExperimentTest, BusierIsAShiftAndNoSpike) {
  for (uint64_t seed = 3000; seed < 3020; ++seed) {
    Comparison comparison;
    for (const Suspicion& suspicion : SuspicionsIn(SweepOf(seed, 1.5), &comparison)) {
      EXPECT_NE(suspicion.signal, Signal::kCurveSpike) << seed;
    }
    EXPECT_TRUE(comparison.whole.shifted) << seed;
    EXPECT_NEAR(comparison.whole.shift_factor, 1.5, 0.1) << seed;
  }
}

TEST_F(ExperimentTest, ASlowerMachineIsSilent) {
  for (uint64_t seed = 4000; seed < 4020; ++seed) {
    Comparison comparison;
    EXPECT_TRUE(SuspicionsIn(SweepOf(seed, 0.6), &comparison).empty()) << seed;
  }
}

}  // namespace
}  // namespace mempulse
