#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <functional>
#include <random>
#include <vector>

#include "exporter/analysis/compare_to_baseline.h"
#include "exporter/analysis/persistence.h"
#include "exporter/analysis/scores.h"

// What a sweep of 100,000 written pages costs to hold against a baseline of 50 runs of such sweeps, against
// the bar of 50 ms. The envelope and the reference scores are made once a baseline and shown apart. Exits
// with 1 above the bar.
namespace mempulse {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double kBarMilliseconds = 50;
constexpr int kPages = 100'000;
constexpr int kFilePages = 20'000;
constexpr int kRuns = 50;
constexpr int kRepeats = 7;

double MedianMilliseconds(const std::function<void()>& work) {
  std::vector<double> times;
  for (int i = 0; i < kRepeats; ++i) {
    const Clock::time_point start = Clock::now();
    work();
    times.push_back(std::chrono::duration<double, std::milli>(Clock::now() - start).count());
  }
  std::nth_element(times.begin(), times.begin() + kRepeats / 2, times.end());
  return times[kRepeats / 2];
}

FrequencyMap MakeMap(uint64_t seed, std::vector<SweepRegion>* regions) {
  std::mt19937_64 random(seed);
  std::lognormal_distribution<double> hertz(2, 2);
  SweepRegion anon;
  anon.range = {0x7f0000000000, 0x7f0000000000 + uint64_t{kPages} * kPageSize};
  anon.kind = static_cast<int>(RegionKind::kAnon);
  SweepRegion file = anon;
  file.kind = static_cast<int>(RegionKind::kFileData);
  file.range = {anon.range.end, anon.range.end + uint64_t{kFilePages} * kPageSize};
  file.build_id = "0123456789abcdef0123456789abcdef01234567";
  file.inode = 7;
  file.name = "/usr/lib/libshop.so";
  *regions = {anon, file};
  FrequencyMap map;
  map.ceiling_hertz = 50'000;
  for (int i = 0; i < kPages; ++i) {
    PageFrequency page;
    page.region = i < kPages - kFilePages ? 0 : 1;
    page.kind = page.region == 0 ? RegionKind::kAnon : RegionKind::kFileData;
    page.address = page.region == 0
                       ? anon.range.start + static_cast<uint64_t>(i) * kPageSize
                       : file.range.start + static_cast<uint64_t>(i - (kPages - kFilePages)) * kPageSize;
    page.state = PageState::kMeasured;
    page.frequency_hertz = hertz(random);
    page.low_hertz = page.frequency_hertz * 0.95;
    page.high_hertz = page.steady_high_hertz = page.frequency_hertz * 1.05;
    map.pages.push_back(std::move(page));
  }
  return map;
}

int Run() {
  std::vector<SweepRegion> regions;
  Baseline baseline;
  for (uint64_t seed = 1; seed <= kRuns; ++seed) {
    const FrequencyMap map = MakeMap(seed, &regions);
    baseline.runs.push_back(MakeRunProfile(map, regions, {}));
  }
  baseline.conditions = baseline.runs[0].conditions;
  BaselineEnvelope envelope;
  const double envelope_ms = MedianMilliseconds([&] { envelope = EnvelopeOf(baseline); });
  ReferenceScores reference;
  const double reference_ms =
      MedianMilliseconds([&] { reference = ReferenceScores::Of(baseline, envelope, {}); });
  const FrequencyMap map = MakeMap(1000, &regions);
  RunProfile live;
  const double profile_ms = MedianMilliseconds([&] { live = MakeRunProfile(map, regions, {}); });
  size_t suspicions = 0;
  const double compare_ms = MedianMilliseconds([&] {
    const Comparison comparison = CompareToBaseline(live, baseline, envelope);
    suspicions = SuspicionsOf(comparison, reference.Score(comparison), reference.runs()).size();
  });
  const double sweep_ms = profile_ms + compare_ms;
  std::printf("%d live pages, %d of files, %d runs; %zu suspicions\n", kPages, kFilePages, kRuns, suspicions);
  std::printf("%-42s %10s %10s\n", "", "ms", "/ bar");
  std::printf("%-42s %10.2f %10.2f\n", "profile, comparison and scores (a sweep)", sweep_ms,
              sweep_ms / kBarMilliseconds);
  std::printf("%-42s %10.2f\n", "  of it the profile", profile_ms);
  std::printf("%-42s %10.2f\n", "envelope (once a baseline)", envelope_ms);
  std::printf("%-42s %10.2f\n", "reference scores (once a baseline)", reference_ms);
  return sweep_ms < kBarMilliseconds ? 0 : 1;
}

}  // namespace
}  // namespace mempulse

int main() { return mempulse::Run(); }
