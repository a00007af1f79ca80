#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "collectors/targets/region_kind.h"

namespace mempulse {

// What can be said about how often a page is written.
//   measured       the frequency is read off an unsaturated rung and fits the others
//   at_ceiling     hit in every look of the shortest rung that was run on it: frequency_hertz is a floor
//   unfit          hit rates contradict the model (bursts, a value-restoring writer under hashdiff)
//   probe_limited  the probing itself slowed the writer; frequency_hertz is the saturated rung's floor
//   target_idle    the target hardly ran in the windows that would decide
//   too_few        not enough hits to say; low and high still bracket it
enum class PageState { kMeasured, kAtCeiling, kUnfit, kProbeLimited, kTargetIdle, kTooFew };
inline constexpr int kPageStateCount = 6;

absl::string_view PageStateName(PageState state);

struct RungCount {
  absl::Duration requested;  // the gap rung has its measured length here
  uint32_t looks = 0;
  uint32_t hits = 0;
};

struct PageFrequency {
  uint64_t address = 0;
  PageState state = PageState::kTooFew;
  double frequency_hertz = 0;  // writes per second that start a new dirty window; a floor for bursty writers
  double low_hertz = 0;        // 95 % interval; high may be infinite (at_ceiling)
  double high_hertz = 0;
  // Upper end if the page is the timer that the frequency assumes: without the part of the interval that is
  // there because random writes read lower. That part is the same for the same page in every run, so runs are
  // compared without it.
  double steady_high_hertz = 0;
  // How many pages this one stands for, so that sums of weights estimate populations: the product of 1 /
  // page_share over the rungs that it was drawn into. 0 for a page that was due on a sampled rung but not
  // drawn: the drawn ones stand for it.
  double weight = 1;
  int region = -1;  // index into SweepSample::regions
  RegionKind kind = RegionKind::kOther;
  bool saturated_at_reference = false;  // hit in every look of the reference rung
  bool undrawn_at_reference = false;    // saturated above the reference rung, but not drawn on the way to it
  double reference_weight = 1;   // as weight, counting the rungs down to the reference only; for populations
                                 // of saturated_at_reference, which finer rungs must not change
  std::vector<RungCount> rungs;  // longest window first, gap rung (when present) before all
};

// The answer of one sweep. Pages that were never hit are not listed; they are counted.
struct FrequencyMap {
  std::vector<PageFrequency> pages;  // ascending by address
  uint64_t tracked_pages = 0;
  double written_pages = 0;         // estimate (weights summed)
  double ceiling_hertz = 0;         // 1 / mean measured window of the shortest valid rung; 0 when no rung ran
  absl::Duration reference_window;  // rung on which the ceiling population was counted; zero when none
  bool reference_is_substitute = false;  // not the one that was asked for
  double reference_share = 1;            // chance of a page to be drawn down to the reference rung
  double wide_share = 1;                 // chance of a page to be drawn into the widest rung
};

}  // namespace mempulse
