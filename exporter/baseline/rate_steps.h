#pragma once

#include <cstdint>

namespace mempulse {

// Frequencies as whole steps of 1/64 octave above 2^-24 Hz; 0 is 0 Hz and kInfiniteStep is infinite.
inline constexpr uint32_t kInfiniteStep = 4096;  // 2^40 Hz and above

uint32_t StepBelow(float hertz);
uint32_t StepNear(float hertz);
uint32_t StepAbove(float hertz);
// Steps beyond kInfiniteStep are infinite.
float HertzOfStep(uint32_t step);

}  // namespace mempulse
