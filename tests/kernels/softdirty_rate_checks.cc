#include "tests/kernels/softdirty_rate_checks.h"

#include <cmath>
#include <limits>
#include <stdexcept>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "tests/kernels/puppet.h"
#include "tests/kernels/virtual_sweep.h"

namespace mempulse {
namespace {

constexpr double kSecond = 1e9;
constexpr double kTolerance = 1.05;  // for the runs that a 95 % interval misses

uint64_t At(uint64_t page) { return Puppet::kArea + page * kPageSize; }

constexpr uint64_t kCool = 0;
constexpr uint64_t kWarm = 8;
constexpr uint64_t kFast = 16;
constexpr uint64_t kFlat = 24;
constexpr uint64_t kOnce = 32;
constexpr uint64_t kNever = 40;
constexpr uint64_t kTierPages = 64;

std::string ExpectRate(const FrequencyMap& map, uint64_t page, double hertz, TierScore* score) {
  const PageFrequency* found = FindPage(map, At(page));
  const bool measured = found != nullptr && found->state == PageState::kMeasured;
  const bool inside = measured && found->low_hertz <= hertz && hertz <= found->high_hertz;
  ++score->asked;
  score->inside += inside ? 1 : 0;
  // An interval that says nothing holds any truth.
  const bool narrow = measured && found->high_hertz < 4 * hertz && found->low_hertz > hertz / 2;
  if (narrow && found->low_hertz <= hertz * kTolerance && found->high_hertz >= hertz / kTolerance) return "";
  return absl::StrFormat("%g Hz: %s; ", hertz, DescribePage(found));
}

}  // namespace

std::vector<Tier> RatedTiers() {
  return {{5, At(kCool)},
          {50, At(kWarm)},
          {200, At(kFast)},
          {std::numeric_limits<double>::infinity(), At(kFlat)}};
}

void MapTiers(Puppet* puppet) {
  puppet->Map(At(0), kTierPages);
  puppet->Write(At(0), kTierPages);
}

VirtualSweep PlanTiers(Puppet* puppet, uint64_t seed) {
  VirtualSweep plan;
  plan.seed = seed;
  plan.area = {At(0), At(kTierPages)};
  const double phase = std::fmod(0.382 * static_cast<double>(seed), 1.0);
  plan.events = {WritesOf(puppet, At(kCool), 2, 5, phase),
                 WritesOf(puppet, At(kWarm), 2, 50, phase),
                 WritesOf(puppet, At(kFast), 2, 200, phase),
                 {[puppet] { puppet->Write(At(kOnce), 2); }, 0, static_cast<int64_t>(kSecond / 2)}};
  plan.flat_out_page = At(kFlat);
  return plan;
}

std::string CheckTiers(const Subject& subject, uint64_t seed, TierScore* score) {
  Puppet puppet;
  MapTiers(&puppet);
  const FrequencyMap map = RunVirtualSweep(subject, &puppet, PlanTiers(&puppet, seed)).map;
  TierScore local;
  std::string problems = ExpectRate(map, kCool, 5, &local);
  absl::StrAppend(&problems, ExpectRate(map, kWarm, 50, &local), ExpectRate(map, kFast, 200, &local));
  if (score != nullptr) {
    score->inside += local.inside;
    score->asked += local.asked;
  }
  const PageFrequency* flat = FindPage(map, At(kFlat));
  if (flat == nullptr || flat->state != PageState::kAtCeiling || flat->low_hertz < 200) {
    absl::StrAppend(&problems, "flat out: ", DescribePage(flat), "; ");
  }
  const PageFrequency* once = FindPage(map, At(kOnce));
  if (once == nullptr || once->state != PageState::kTooFew || once->low_hertz > 1) {
    absl::StrAppend(&problems, "once: ", DescribePage(once), "; ");
  }
  for (uint64_t page = kNever; page < kTierPages; ++page) {
    if (const PageFrequency* never = FindPage(map, At(page)); never != nullptr) {
      return absl::StrCat(problems, "never written: ", DescribePage(never), "; ");
    }
  }
  return problems;
}

namespace {

constexpr TimedSoftDirty::Costs kWideGap = {0, 1'000'000, 900'000};
constexpr uint64_t kLockedPage = 5;

// The time from one clear to the next in a sweep without jitter, where nothing is written.
double StepOfLooks(const Subject& subject, double* first) {
  Puppet puppet;
  puppet.Map(At(0), 16);
  puppet.Write(At(0), 16);
  VirtualSweep plan;
  plan.jitter = 0;
  plan.costs = kWideGap;
  plan.area = {At(0), At(16)};
  const std::vector<int64_t> clears = RunVirtualSweep(subject, &puppet, plan).clears;
  if (clears.size() < 60) throw std::runtime_error("too few looks to be in step with");
  *first = static_cast<double>(clears[10]);
  return static_cast<double>(clears[50] - clears[10]) / 40;
}

// A writer in the middle of the gap of every `stride`-th look.
const PageFrequency* SweepLocked(const Subject& subject, double jitter, int stride, VirtualAnswer* answer,
                                 double* hertz) {
  double first = 0;
  const double step = StepOfLooks(Subject{}, &first);
  Puppet puppet;
  puppet.Map(At(0), 16);
  puppet.Write(At(0), 16);
  VirtualSweep plan;
  plan.jitter = jitter;
  plan.costs = kWideGap;
  plan.area = {At(0), At(16)};
  const double period = step * stride;
  const double phase = std::fmod(first + static_cast<double>(kWideGap.gap_nanos) / 2, period) / period;
  *hertz = kSecond / period;
  plan.events = {WritesOf(&puppet, At(kLockedPage), 1, *hertz, phase)};
  *answer = RunVirtualSweep(subject, &puppet, plan);
  return FindPage(answer->map, At(kLockedPage));
}

}  // namespace

std::string ShowPhaseLock() {
  std::string problems;
  for (const int stride : {1, 3, 10}) {
    VirtualAnswer answer;
    double hertz = 0;
    const PageFrequency* page = SweepLocked(Subject{}, 0, stride, &answer, &hertz);
    if (page != nullptr && page->frequency_hertz > hertz / 2) {
      absl::StrAppendFormat(&problems, "%.3g Hz is seen without jitter: %s; ", hertz, DescribePage(page));
    }
  }
  return problems;
}

std::string CheckPhaseLock(const Subject& subject) {
  std::string problems;
  for (const int stride : {1, 3, 10}) {
    VirtualAnswer answer;
    double hertz = 0;
    const PageFrequency* page = SweepLocked(subject, 0.25, stride, &answer, &hertz);
    // In every window or nearly so: a floor is all that can be said.
    const bool answered = page != nullptr && (page->state == PageState::kMeasured ||
                                              (stride == 1 && page->state == PageState::kAtCeiling));
    const bool holds = answered && page->low_hertz > hertz / 2 && page->low_hertz <= hertz * kTolerance &&
                       page->high_hertz >= hertz / kTolerance;
    if (!holds) absl::StrAppendFormat(&problems, "%.3g Hz: %s; ", hertz, DescribePage(page));
  }
  return problems;
}

std::string CheckLargeMapping(const Subject& subject) {
  constexpr uint64_t kMany = 4096;
  Puppet puppet;
  puppet.Map(At(0), kMany);
  puppet.Write(At(0), kMany);
  Watch watch(subject, puppet.pid());
  watch.Begin({At(0), At(kMany)});
  std::string problems;
  const std::vector<PageRange> wanted = {{At(2), At(3)}, {At(2500), At(2503)}, {At(kMany - 1), At(kMany)}};
  for (int window = 0; window < 3; ++window) {
    const Watch::Answer rest = watch.Look();
    if (!rest.trusted || !rest.written.empty())
      absl::StrAppend(&problems, "at rest: ", TextOf(rest.written), "; ");
    for (const PageRange& range : wanted) puppet.Write(range.start, range.pages());
    const Watch::Answer answer = watch.Look();
    if (!answer.trusted || answer.written != wanted) {
      absl::StrAppend(&problems, "written: ", TextOf(answer.written), "; ");
    }
  }
  return problems;
}

}  // namespace mempulse
