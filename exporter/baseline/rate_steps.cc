#include "exporter/baseline/rate_steps.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace mempulse {
namespace {

constexpr double kStepsAnOctave = 64;
constexpr double kSlowestOctave = -24;
// A value that was read from a step has to give that step again, whatever the rounding of the logarithm.
constexpr double kSameStep = 1e-3;

uint32_t Bounded(double steps) {
  return static_cast<uint32_t>(std::clamp(steps, 1.0, static_cast<double>(kInfiniteStep)));
}

double StepsOf(float hertz) {
  return (std::log2(static_cast<double>(hertz)) - kSlowestOctave) * kStepsAnOctave;
}

}  // namespace

uint32_t StepBelow(float hertz) { return hertz > 0 ? Bounded(std::floor(StepsOf(hertz) + kSameStep)) : 0; }

uint32_t StepNear(float hertz) { return hertz > 0 ? Bounded(std::round(StepsOf(hertz))) : 0; }

uint32_t StepAbove(float hertz) { return hertz > 0 ? Bounded(std::ceil(StepsOf(hertz) - kSameStep)) : 0; }

float HertzOfStep(uint32_t step) {
  if (step == 0) return 0;
  if (step >= kInfiniteStep) return std::numeric_limits<float>::infinity();
  return static_cast<float>(std::exp2(step / kStepsAnOctave + kSlowestOctave));
}

}  // namespace mempulse
