#include "exporter/analysis/window_table.h"

#include <algorithm>
#include <cmath>

namespace mempulse {
namespace {

constexpr double kUsualLength = 1.5;  // medians; jitter reaches 1.25
constexpr double kLeastWindow = 1e-9;

absl::Span<const Look> Cut(absl::Span<const Look> looks, uint32_t first, uint32_t count) {
  if (first >= looks.size()) return {};
  return looks.subspan(first, count);
}

}  // namespace

WindowTable::WindowTable(absl::Span<const Look> looks, uint32_t first, uint32_t count, Only only,
                         double extra_window) {
  looks = Cut(looks, first, count);
  sorted_.reserve(looks.size() + 1);
  size_t contiguous = 0;
  double cpu = 0;
  for (size_t i = 0; i < looks.size(); ++i) {
    const Look& look = looks[i];
    // Where the first window begins does not matter for what lies between the looks.
    if (look.discarded || (i > 0 && !look.contiguous)) unbroken_ = false;
    if (look.discarded || (only == Only::kBusy && look.target_cpu < kBusyCpu)) continue;
    sorted_.push_back(std::max(kLeastWindow, look.window_seconds));
    contiguous += look.contiguous ? 1 : 0;
    cpu += look.target_cpu;
  }
  if (!sorted_.empty()) {
    contiguous_share_ = static_cast<double>(contiguous) / sorted_.size();
    mean_target_cpu_ = cpu / sorted_.size();
  }
  if (extra_window > 0) {
    sorted_.push_back(extra_window);
    unbroken_ = false;
  }
  SumUp();
  DescribeUsual(looks);
}

void WindowTable::SumUp() {
  std::sort(sorted_.begin(), sorted_.end());
  sums_.resize(sorted_.size() + 1);
  log_sums_.resize(sorted_.size() + 1);
  for (size_t i = 0; i < sorted_.size(); ++i) {
    sums_[i + 1] = sums_[i] + sorted_[i];
    log_sums_[i + 1] = log_sums_[i] + std::log(sorted_[i]);
  }
}

void WindowTable::DescribeUsual(absl::Span<const Look> looks) {
  if (sorted_.empty()) return;
  const double limit = kUsualLength * sorted_[(sorted_.size() - 1) / 2];
  usual_ = std::upper_bound(sorted_.begin(), sorted_.end(), limit) - sorted_.begin();
  usual_mean_ = sums_[usual_] / usual_;
  double squares = 0;
  for (size_t i = 0; i < usual_; ++i) {
    squares += (sorted_[i] - usual_mean_) * (sorted_[i] - usual_mean_);
  }
  spread_ = std::sqrt(squares / usual_) / usual_mean_;
  double slack = 0;
  double windows = 0;
  for (const Look& look : looks) {
    if (look.discarded || look.window_seconds > limit) continue;
    slack += look.slack_seconds;
    windows += look.window_seconds;
  }
  relative_slack_ = windows > 0 ? slack / windows : 0;
}

size_t WindowTable::Unsure(double hertz) const {
  if (hertz <= 0) return sorted_.size();
  return std::lower_bound(sorted_.begin(), sorted_.end(), 1 / hertz) - sorted_.begin();
}

double WindowTable::ExpectedOfShortest(size_t count, double hertz) const {
  const size_t unsure = std::min(count, Unsure(hertz));
  return hertz * sums_[unsure] + static_cast<double>(count - unsure);
}

double WindowTable::Invert(double hits) const {
  const size_t n = sorted_.size();
  if (hits <= 0) return 0;
  if (hits >= static_cast<double>(n)) return 1 / sorted_.front();
  // Expected(1 / sorted_[j]) falls with j: the first j at or below `hits` tells how many windows are unsure.
  size_t low = 1;
  size_t high = n;
  while (low < high) {
    const size_t j = low + (high - low) / 2;
    if (sums_[j] / sorted_[j] + static_cast<double>(n - j) <= hits) {
      high = j;
    } else {
      low = j + 1;
    }
  }
  return (hits - static_cast<double>(n - low)) / sums_[low];
}

double WindowTable::InvertAllHit(double log_chance) const {
  const size_t n = sorted_.size();
  size_t low = 1;
  size_t high = n;
  while (low < high) {
    const size_t j = low + (high - low) / 2;
    if (log_sums_[j] - static_cast<double>(j) * std::log(sorted_[j]) < log_chance) {
      high = j;
    } else {
      low = j + 1;
    }
  }
  return std::exp((log_chance - log_sums_[low]) / static_cast<double>(low));
}

}  // namespace mempulse
