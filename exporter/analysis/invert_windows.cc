#include "exporter/analysis/invert_windows.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "exporter/analysis/page_verdict.h"
#include "exporter/analysis/rung_reading.h"
#include "exporter/analysis/sampling_plan.h"
#include "exporter/analysis/slow_pages.h"
#include "exporter/analysis/window_table.h"

namespace mempulse {
namespace {

// Where to find a page's reading on one rung.
struct Place {
  uint64_t address;
  uint32_t rung;
  uint32_t page;
};

// The same rungs from the looks in which the target ran. Neighbours share their looks, so one table a rung is
// kept.
class BusyLooks {
 public:
  BusyLooks(const SweepSample& sample, const InvertOptions& options)
      : sample_(sample), options_(options), tables_(sample.rungs.size()) {}

  RungReading Read(uint32_t rung, const PageHits& page) {
    Entry& entry = tables_[rung];
    const std::pair<uint32_t, uint32_t> looks{page.first_look, page.look_count};
    if (!entry.table || entry.looks != looks) {
      entry.table.emplace(sample_.rungs[rung].looks, looks.first, looks.second, WindowTable::Only::kBusy);
      entry.looks = looks;
    }
    RungReader reader(*entry.table, options_);
    PageHits busy;
    busy.hits = page.busy_looks == 0 ? 0 : page.busy_hits;
    RungReading reading = reader.Read(busy);
    reading.requested = sample_.rungs[rung].requested;
    return reading;
  }

 private:
  struct Entry {
    std::pair<uint32_t, uint32_t> looks;
    std::optional<WindowTable> table;
  };
  const SweepSample& sample_;
  const InvertOptions& options_;
  std::vector<Entry> tables_;
};

bool Contains(const std::vector<PageRange>& ranges, uint64_t address) {
  auto after = std::upper_bound(ranges.begin(), ranges.end(), address,
                                [](uint64_t a, const PageRange& range) { return a < range.start; });
  return after != ranges.begin() && address < (--after)->end;
}

class Inversion {
 public:
  Inversion(const SweepSample& sample, const InvertOptions& options)
      : sample_(sample),
        options_(options),
        plan_(sample, options),
        busy_(sample, options),
        slow_(sample, options) {}

  FrequencyMap Run() {
    map_.tracked_pages = sample_.tracked_pages;
    map_.ceiling_hertz = plan_.CeilingHertz();
    for (uint32_t i = 0; i < sample_.rungs.size(); ++i) ReadRung(i);
    std::sort(places_.begin(), places_.end(), [](const Place& a, const Place& b) {
      return a.address != b.address ? a.address < b.address : a.rung < b.rung;
    });
    plan_.SettleReference(AnyPageWantsFiner(), &map_);
    AnswerAll();
    return std::move(map_);
  }

 private:
  // Pages that took part in the same looks share one table.
  void ReadRung(uint32_t index) {
    const RungSample& rung = sample_.rungs[index];
    std::vector<RungReading>& readings = readings_.emplace_back(rung.pages.size());
    std::vector<uint32_t> order(rung.pages.size());
    for (uint32_t i = 0; i < order.size(); ++i) order[i] = i;
    const auto looks = [&](uint32_t i) {
      return std::pair(rung.pages[i].first_look, rung.pages[i].look_count);
    };
    std::stable_sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) { return looks(a) < looks(b); });
    for (size_t begin = 0; begin < order.size();) {
      const auto [first, count] = looks(order[begin]);
      const WindowTable table(rung.looks, first, count);
      RungReader reader(table, options_);
      for (; begin < order.size() && looks(order[begin]) == std::pair(first, count); ++begin) {
        const uint32_t page = order[begin];
        readings[page] = reader.Read(rung.pages[page]);
        readings[page].requested = rung.requested;
        readings[page].load = rung.hits_per_second * sample_.target_seconds_per_hit;
        if (readings[page].looks > 0) places_.push_back({rung.pages[page].address, index, page});
      }
    }
  }

  const RungReading& At(const Place& place) const { return readings_[place.rung][place.page]; }

  bool AnyPageWantsFiner() const {
    for (size_t i = 0; i < places_.size(); ++i) {
      const bool finest = i + 1 == places_.size() || places_[i + 1].address != places_[i].address;
      if (finest && At(places_[i]).saturated) return true;
    }
    return false;
  }

  // Pages of the rungs and pages written in the pause, merged by address.
  void AnswerAll() {
    size_t next = 0;
    const auto answer_rungs_below = [&](uint64_t address) {
      while (next < places_.size() && places_[next].address < address) {
        size_t end = next + 1;
        while (end < places_.size() && places_[end].address == places_[next].address) ++end;
        Answer({&places_[next], end - next});
        next = end;
      }
    };
    for (const PageRange& range : sample_.gap.written) {
      for (uint64_t address = range.start; address < range.end; address += kPageSize) {
        answer_rungs_below(address);
        if (next == places_.size() || places_[next].address != address) AnswerGapOnly(address);
      }
    }
    answer_rungs_below(UINT64_MAX);
  }

  GapAnswer AskGap(uint64_t address) const {
    if (sample_.gap.window_seconds <= 0 || !Contains(sample_.gap.looked, address))
      return GapAnswer::kNotLooked;
    return Contains(sample_.gap.written, address) ? GapAnswer::kWritten : GapAnswer::kClean;
  }

  void Answer(absl::Span<const Place> places) {
    const GapAnswer gap = AskGap(places.front().address);
    page_readings_.clear();
    page_rungs_.clear();
    bool few = true;
    bool hit = gap == GapAnswer::kWritten;
    for (const Place& place : places) {
      page_readings_.push_back(At(place));
      page_rungs_.push_back(&sample_.rungs[place.rung]);
      few &= !At(place).all_hit && At(place).hits < options_.fewest_hits;
      hit |= At(place).hits > 0;
    }
    if (!hit) return;
    const PageHits& longest = sample_.rungs[places.front().rung].pages[places.front().page];
    const auto busy = [&] {
      std::vector<RungReading> result;
      for (const Place& place : places) result.push_back(ReadBusy(place));
      return result;
    };
    const Verdict verdict =
        few ? slow_.Bracket(page_rungs_.front(), longest, gap)
            : Judge(page_readings_, {sample_.atomic, sample_.sees_restores}, options_, busy);
    Add(places.front().address, verdict, gap);
  }

  RungReading ReadBusy(const Place& place) {
    return busy_.Read(place.rung, sample_.rungs[place.rung].pages[place.page]);
  }

  // No look of a rung saw it written; the widest rung may have looked at it all the same.
  void AnswerGapOnly(uint64_t address) {
    page_readings_.clear();
    page_rungs_.clear();
    PageHits page;
    page.address = address;
    for (const RungSample& rung : sample_.rungs) {
      if (!Contains(rung.ranges, address)) continue;
      page.look_count = static_cast<uint32_t>(rung.looks.size());
      page_rungs_.push_back(&rung);
      break;
    }
    const Verdict verdict =
        slow_.Bracket(page_rungs_.empty() ? nullptr : page_rungs_.front(), page, GapAnswer::kWritten);
    Add(address, verdict, GapAnswer::kWritten);
    if (page_rungs_.empty()) return;
    const uint32_t looks = static_cast<uint32_t>(page_rungs_.front()->looks.size());
    map_.pages.back().rungs.push_back({page_rungs_.front()->requested, looks, 0});
  }

  void Add(uint64_t address, const Verdict& verdict, GapAnswer gap) {
    PageFrequency& page = map_.pages.emplace_back();
    page.address = address;
    page.state = verdict.state;
    page.frequency_hertz = verdict.frequency;
    page.low_hertz = verdict.bounds.low;
    page.high_hertz = verdict.bounds.high;
    page.steady_high_hertz = verdict.steady_high > 0 ? verdict.steady_high : verdict.bounds.high;
    page.rungs.reserve(page_readings_.size() + 1);
    if (gap != GapAnswer::kNotLooked) {
      page.rungs.push_back(
          {absl::Seconds(sample_.gap.window_seconds), 1, gap == GapAnswer::kWritten ? 1U : 0U});
    }
    for (const RungReading& reading : page_readings_) {
      page.rungs.push_back({reading.requested, reading.looks, reading.hits});
    }
    const bool ceiling_while_running = verdict.while_running && verdict.state == PageState::kAtCeiling;
    plan_.Weigh(page_readings_, page_rungs_, ceiling_while_running, &page);
    map_.written_pages += page.weight;
    FindRegion(&page);
  }

  void FindRegion(PageFrequency* page) {
    while (region_ < sample_.regions.size() && sample_.regions[region_].range.end <= page->address) ++region_;
    if (region_ == sample_.regions.size() || page->address < sample_.regions[region_].range.start) return;
    page->region = static_cast<int>(region_);
    const int kind = sample_.regions[region_].kind;
    if (kind >= 0 && kind < static_cast<int>(kAllRegionKinds.size())) page->kind = kAllRegionKinds[kind];
  }

  const SweepSample& sample_;
  const InvertOptions& options_;
  SamplingPlan plan_;
  BusyLooks busy_;
  SlowPages slow_;
  std::vector<std::vector<RungReading>> readings_;  // as sample.rungs and their pages
  std::vector<Place> places_;
  std::vector<RungReading> page_readings_;  // of the page being answered
  std::vector<const RungSample*> page_rungs_;
  size_t region_ = 0;
  FrequencyMap map_;
};

}  // namespace

FrequencyMap InvertWindows(const SweepSample& sample, const InvertOptions& options) {
  return Inversion(sample, options).Run();
}

}  // namespace mempulse
