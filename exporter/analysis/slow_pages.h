#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <tuple>

#include "collectors/pages/sweep_sample.h"
#include "exporter/analysis/invert_windows.h"
#include "exporter/analysis/page_verdict.h"
#include "exporter/analysis/window_table.h"

namespace mempulse {

// Was a page looked at after the pause, and was it written in it?
enum class GapAnswer { kNotLooked, kClean, kWritten };

// Pages with too few hits to be read off a rung: the pause before the sweep counts as one long look beside
// those of the rung, and the bracket comes from the Poisson interval of the few hits. Remembers its last
// answers, so neighbours that took part in the same looks are cheap. Not thread-safe; keeps references to its
// arguments.
class SlowPages {
 public:
  SlowPages(const SweepSample& sample, const InvertOptions& options) : sample_(sample), options_(options) {}

  // `rung` may be null: a page that only the pause saw. `page` gives the range of looks and the hits.
  Verdict Bracket(const RungSample* rung, const PageHits& page, GapAnswer gap);

 private:
  using Looks = std::tuple<const RungSample*, uint32_t, uint32_t>;
  using Answer = std::pair<uint32_t, GapAnswer>;
  Verdict Compute(uint32_t hits, GapAnswer gap) const;

  const SweepSample& sample_;
  const InvertOptions& options_;
  Looks looks_{};
  std::optional<WindowTable> alone_;
  std::optional<WindowTable> with_gap_;
  std::map<Answer, Verdict> known_;
};

}  // namespace mempulse
