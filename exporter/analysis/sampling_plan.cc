#include "exporter/analysis/sampling_plan.h"

#include <algorithm>

#include "exporter/analysis/window_table.h"

namespace mempulse {
namespace {

constexpr double kLeastShare = 1e-6;

double ShareOf(const RungSample& rung) { return std::clamp(rung.page_share, kLeastShare, 1.0); }

}  // namespace

SamplingPlan::SamplingPlan(const SweepSample& sample, const InvertOptions& options)
    : load_limit_(options.probe_load_limit), asked_(sample.ceiling_window) {
  size_t parts = 0;
  for (const RungSample& rung : sample.rungs) {
    if (levels_.empty() || levels_.back().requested != rung.requested) {
      levels_.push_back({rung.requested});
      levels_.back().share = 0;
      parts = 0;
    }
    Level& level = levels_.back();
    const WindowTable table(rung.looks, 0, static_cast<uint32_t>(rung.looks.size()));
    const double looks = static_cast<double>(table.looks());
    if (looks > 0) {
      level.mean_window =
          (level.mean_window * level.looks + table.usual_mean_seconds() * looks) / (level.looks + looks);
    }
    level.looks += table.looks();
    level.load = std::max(level.load, rung.hits_per_second * sample.target_seconds_per_hit);
    level.share = (level.share * parts + ShareOf(rung)) / (parts + 1);
    level.sampled |= ShareOf(rung) < 1 && !rung.pages.empty();
    ++parts;
  }
}

size_t SamplingPlan::LevelOf(const RungSample& rung) const {
  const auto level = std::find_if(levels_.begin(), levels_.end(),
                                  [&](const Level& l) { return l.requested == rung.requested; });
  return level - levels_.begin();
}

std::optional<size_t> SamplingPlan::ShortestValid() const {
  std::optional<size_t> shortest;
  for (size_t i = 0; i < levels_.size(); ++i) {
    if (Valid(levels_[i]) || (!shortest && levels_[i].looks > 0)) shortest = i;
  }
  return shortest;
}

double SamplingPlan::CeilingHertz() const {
  const std::optional<size_t> shortest = ShortestValid();
  return shortest ? 1 / levels_[*shortest].mean_window : 0;
}

void SamplingPlan::SettleReference(bool wanted, FrequencyMap* map) {
  reference_.reset();
  map->reference_window = absl::ZeroDuration();
  map->reference_is_substitute = false;
  map->reference_share = 1;
  const std::optional<size_t> shortest = ShortestValid();
  if (!shortest) return;
  map->wide_share = levels_.front().share;
  for (size_t i = 0; i < levels_.size(); ++i) {
    if (levels_[i].requested == asked_ && Valid(levels_[i])) reference_ = i;
  }
  const bool not_needed =
      !reference_ && !wanted && asked_ > absl::ZeroDuration() && levels_[*shortest].requested > asked_;
  if (not_needed) {
    map->reference_window = asked_;
    return;
  }
  map->reference_is_substitute = !reference_;
  if (!reference_) reference_ = shortest;
  map->reference_window = levels_[*reference_].requested;
  for (size_t i = 0; i <= *reference_; ++i) {
    if (levels_[i].looks > 0) map->reference_share *= levels_[i].share;
  }
}

void SamplingPlan::Weigh(absl::Span<const RungReading> readings,
                         absl::Span<const RungSample* const> page_rungs, bool ceiling_while_running,
                         PageFrequency* page) const {
  page->weight = 1;
  page->reference_weight = 1;
  for (size_t i = 0; i < page_rungs.size(); ++i) {
    if (i < readings.size() && readings[i].witness) continue;
    const size_t level = LevelOf(*page_rungs[i]);
    page->weight /= ShareOf(*page_rungs[i]);
    if (!reference_ || level > *reference_) continue;
    page->reference_weight /= ShareOf(*page_rungs[i]);
    if (level == *reference_ && i < readings.size())
      page->saturated_at_reference = readings[i].saturated || ceiling_while_running;
  }
  const bool open = readings.empty() ? page_rungs.empty() : readings.back().saturated;
  const size_t next = page_rungs.empty() ? 0 : LevelOf(*page_rungs.back()) + 1;
  if (!open || next >= levels_.size()) return;
  // The pages that were drawn stand for this one.
  if (levels_[next].sampled) page->weight = 0;
  if (!reference_ || readings.empty()) return;
  for (size_t level = next; level <= *reference_; ++level)
    page->undrawn_at_reference |= levels_[level].sampled;
  if (page->undrawn_at_reference) page->reference_weight = 0;
}

}  // namespace mempulse
