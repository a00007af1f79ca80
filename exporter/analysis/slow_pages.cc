#include "exporter/analysis/slow_pages.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "exporter/analysis/confidence.h"

namespace mempulse {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

Interval BracketOf(const WindowTable& table, uint32_t hits, double z) {
  const double looks = static_cast<double>(table.looks());
  if (looks == 0) return {0, kInfinity};
  if (hits >= looks) return {table.InvertAllHit(std::log(UpperTail(z))), kInfinity};
  const Interval count = PoissonInterval(hits, z);
  return {table.Invert(count.low), count.high < looks ? table.Invert(count.high) : kInfinity};
}

}  // namespace

Verdict SlowPages::Bracket(const RungSample* rung, const PageHits& page, GapAnswer gap) {
  const Looks looks{rung, page.first_look, page.look_count};
  if (!alone_ || looks != looks_) {
    const absl::Span<const Look> all = rung == nullptr ? absl::Span<const Look>() : rung->looks;
    alone_.emplace(all, page.first_look, page.look_count);
    with_gap_.emplace(all, page.first_look, page.look_count, WindowTable::Only::kAll,
                      sample_.gap.window_seconds);
    known_.clear();
    looks_ = looks;
  }
  const Answer answer{page.hits, gap};
  const auto known = known_.find(answer);
  if (known != known_.end()) return known->second;
  return known_.emplace(answer, Compute(page.hits, gap)).first->second;
}

Verdict SlowPages::Compute(uint32_t hits, GapAnswer gap) const {
  const double z = options_.confidence_z;
  const bool looked = gap != GapAnswer::kNotLooked;
  const WindowTable& table = looked ? *with_gap_ : *alone_;
  const uint32_t all_hits = hits + (gap == GapAnswer::kWritten ? 1 : 0);
  Interval bounds = BracketOf(table, all_hits, z);
  // The rung alone may bound it better: the pause is one look, however many writes fell into it.
  bounds.high = std::max(bounds.low, std::min(bounds.high, BracketOf(*alone_, hits, z).high));
  const double frequency = table.looks() == 0 ? 0 : table.Invert(all_hits);
  return {PageState::kTooFew, std::clamp(frequency, bounds.low, bounds.high), bounds};
}

}  // namespace mempulse
