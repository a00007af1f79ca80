#include "collectors/pages/rung_recorder.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace mempulse {
namespace {

constexpr double kBusyCpu = 0.5;

double Seconds(int64_t nanos) { return static_cast<double>(nanos) * 1e-9; }

// For an atomic tracker every page's window runs from its place in one walk to the same place in the next, so
// begin-to-begin is exact; otherwise only the bounds are known.
Look MeasureWindow(const Instant& open, const RungRecorder::LookFacts& facts) {
  Look look;
  if (facts.atomic) {
    look.window_seconds = Seconds(facts.look.begin_nanos - open.begin_nanos);
  } else {
    const double shortest = Seconds(facts.look.begin_nanos - open.end_nanos);
    const double longest = Seconds(facts.look.end_nanos - open.begin_nanos);
    look.window_seconds = (shortest + longest) / 2;
    look.slack_seconds = (longest - shortest) / 2;
  }
  look.contiguous = facts.contiguous;
  look.discarded = facts.discarded;
  return look;
}

}  // namespace

RungRecorder::RungRecorder(absl::Duration requested, std::vector<PageRange> ranges, bool record_hits)
    : record_hits_(record_hits) {
  sample_.requested = requested;
  sample_.ranges = std::move(ranges);
}

void RungRecorder::AddPage(uint64_t address) {
  if (!index_.try_emplace(address, static_cast<uint32_t>(sample_.pages.size())).second) return;
  sample_.pages.emplace_back().address = address;
  trails_.emplace_back();
  dropped_.push_back(false);
}

void RungRecorder::NameMembers(absl::Span<const uint64_t> addresses) {
  members_only_ = true;
  for (const uint64_t address : addresses) AddPage(address);
}

void RungRecorder::NameWitnesses(absl::Span<const uint64_t> addresses) {
  NameMembers(addresses);
  for (const uint64_t address : addresses) sample_.pages[index_.at(address)].witness = true;
}

uint32_t RungRecorder::look_count(size_t page) const {
  return dropped_[page] ? sample_.pages[page].look_count : static_cast<uint32_t>(sample_.looks.size());
}

void RungRecorder::CountHit(uint64_t address, int64_t at_nanos) {
  if (!members_only_) AddPage(address);
  const auto entry = index_.find(address);
  if (entry == index_.end() || dropped_[entry->second]) return;
  const uint32_t i = entry->second;
  PageHits& page = sample_.pages[i];
  Trail& trail = trails_[i];
  if (page.hits == 0) {
    trail.first_hit_nanos = at_nanos;
  } else {
    const double gap = Seconds(at_nanos - trail.last_hit_nanos);
    page.hit_gap_square_sum += gap * gap;
  }
  trail.last_hit_nanos = at_nanos;
  ++page.hits;
  if (trail.unsettled_hits++ == 0) unsettled_pages_.push_back(i);
  if (record_hits_) {
    sample_.record.push_back({i, static_cast<uint32_t>(sample_.looks.size() - 1)});
  }
}

void RungRecorder::Close(const LookFacts& facts, absl::Span<const PageRange> written) {
  if (!open_.has_value()) {
    open_ = facts.reset;
    return;
  }
  sample_.looks.push_back(MeasureWindow(*open_, facts));
  open_ = facts.reset;
  if (facts.discarded) return;
  for (const PageRange& range : written) {
    for (uint64_t address = range.start; address < range.end; address += kPageSize) {
      CountHit(address, facts.look.begin_nanos);
    }
  }
}

void RungRecorder::SettleCpu(double target_cpu) {
  const bool busy = target_cpu >= kBusyCpu;
  for (; settled_looks_ < sample_.looks.size(); ++settled_looks_) {
    sample_.looks[settled_looks_].target_cpu = static_cast<float>(target_cpu);
    busy_.push_back(busy && !sample_.looks[settled_looks_].discarded);
  }
  for (const uint32_t i : unsettled_pages_) {
    if (busy) sample_.pages[i].busy_hits += trails_[i].unsettled_hits;
    trails_[i].unsettled_hits = 0;
  }
  unsettled_pages_.clear();
}

void RungRecorder::Drop(uint64_t address) {
  const auto entry = index_.find(address);
  if (entry == index_.end() || dropped_[entry->second]) return;
  dropped_[entry->second] = true;
  sample_.pages[entry->second].look_count = static_cast<uint32_t>(sample_.looks.size());
}

RungSample RungRecorder::Finish() && {
  if (settled_looks_ < sample_.looks.size()) SettleCpu(settled_looks_ > 0 && busy_.back() ? 1 : 0);
  std::vector<uint32_t> busy_before(sample_.looks.size() + 1, 0);
  for (size_t i = 0; i < sample_.looks.size(); ++i) busy_before[i + 1] = busy_before[i] + (busy_[i] ? 1 : 0);
  for (size_t i = 0; i < sample_.pages.size(); ++i) {
    PageHits& page = sample_.pages[i];
    page.look_count = look_count(i);
    page.busy_looks = busy_before[page.look_count];
    page.hit_span_seconds = Seconds(trails_[i].last_hit_nanos - trails_[i].first_hit_nanos);
  }
  std::vector<uint32_t> order(sample_.pages.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(),
            [this](uint32_t a, uint32_t b) { return sample_.pages[a].address < sample_.pages[b].address; });
  std::vector<uint32_t> place(order.size());
  std::vector<PageHits> sorted;
  sorted.reserve(order.size());
  for (const uint32_t i : order) {
    place[i] = static_cast<uint32_t>(sorted.size());
    sorted.push_back(sample_.pages[i]);
  }
  sample_.pages = std::move(sorted);
  for (RungSample::Hit& hit : sample_.record) hit.page = place[hit.page];
  return std::move(sample_);
}

}  // namespace mempulse
