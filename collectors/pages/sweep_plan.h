#pragma once

#include <cstddef>
#include <cstdint>

#include "collectors/pages/page_tracker.h"

// The arithmetic by which a sweep decides how much of a population it can afford to look at. Pure.
namespace mempulse {

// Fewest looks of the wide rung for which a sample of pages is thinned: one second of 20 ms windows and a
// bit.
inline constexpr double kWideLooks = 60;
// Looks after which a page that was hit in all of them goes on to the next rung.
inline constexpr uint32_t kPromotionLooks = 10;
// The same where writes can stay unseen, so that two rungs contradict each other clearly.
inline constexpr uint32_t kBlindPromotionLooks = 20;
// The same on the reference rung and on the last one, whose verdict is final.
inline constexpr uint32_t kVerdictLooks = 24;
// Of those looks and more, the share that must be hits: a page written all the time misses one now and then.
inline constexpr double kVerdictRate = 0.97;
// Hits after which a page's frequency is tight enough and its faults are better spent on others.
inline constexpr uint32_t kEnoughHits = 250;
// Hit rate above which a page leaves a rung for the next one while the rung runs: the rest of its looks would
// say little.
inline constexpr double kLeavingRate = 0.9;
// Hit rate above which a page that stayed to the end is looked at on the next rung too.
inline constexpr double kSaturatedRate = 0.7;

struct WidePlan {
  double page_share = 1;  // of the population, page by page
  bool scout =
      false;  // find the written pages with one long window first: looking at all of them is too dear
  double block_share = 1;  // of the population, in blocks, before anything else
};

// What may be spent on the wide rung, seconds of CPU.
struct WideMeans {
  double target_seconds = 0;
  double own_seconds = 0;
  double burst_ratio = 0.05;
  double window_seconds = 0.02;
};

// Before anything is known about the population: can we afford to look at all of it, and how?
WidePlan PlanWalk(uint64_t pages, const TrackerTraits& traits, const WideMeans& means);

// What a pilot look at some of the pages says of all of them.
struct WidePopulation {
  uint64_t pages = 0;
  double hit_share = 0;             // of the pages written in one window
  double own_seconds_per_page = 0;  // what a look at a page costs us
};

// After the pilot look: the share of the pages that can be looked at for as long as an answer needs.
double WidePageShare(const WidePopulation& population, const TrackerTraits& traits, const WideMeans& means);

struct FineMeans {
  double seconds = 0;  // of the target's CPU (or ours where hits are free) for this rung
  double burst_ratio = 0.05;
  double window_seconds = 0.001;
  double duration_seconds = 1;
  uint32_t verdict_looks = kPromotionLooks;
};

// Share of `pages` saturated pages to draw into a finer rung; 0 when not even a handful is affordable.
double FinePageShare(uint64_t pages, const TrackerTraits& traits, const FineMeans& means);

// How many pages that are hit every time may share one window: their faults must leave the target most of its
// CPU, or it is the probing that is measured. At least 1.
size_t MostPagesTogether(const TrackerTraits& traits, double window_seconds);

// What one look at one page that is hit costs against the budget.
double SecondsPerHit(const TrackerTraits& traits);

}  // namespace mempulse
