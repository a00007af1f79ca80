#include "exporter/publish/region_slots.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "exporter/publish/label_text.h"

namespace mempulse {
namespace {

bool Overlaps(const FileRegion& a, const FileRegion& b) {
  return a.identity == b.identity && a.begin < b.end && b.begin < a.end;
}

bool Faster(const FileRegion& a, const FileRegion& b) {
  if (a.hertz != b.hertz) return a.hertz > b.hertz;
  return std::tie(a.identity, a.begin, a.end) < std::tie(b.identity, b.begin, b.end);
}

std::string IdOf(const FileRegion& region) {
  return HashDigits(absl::StrCat(region.identity, ":", region.begin, "-", region.end), 12);
}

// Processes of a group share their files: overlapping runs become one, with the range of the fastest.
std::vector<FileRegion> Unite(std::vector<FileRegion> seen) {
  std::sort(seen.begin(), seen.end(), Faster);
  std::vector<FileRegion> united;
  for (FileRegion& region : seen) {
    const auto overlaps = [&region](const FileRegion& other) { return Overlaps(region, other); };
    if (std::none_of(united.begin(), united.end(), overlaps)) united.push_back(std::move(region));
  }
  return united;
}

// The place that loses: one whose region was not seen, else the slowest.
std::vector<RegionSlots::Slot>::iterator Weakest(std::vector<RegionSlots::Slot>* slots) {
  return std::min_element(slots->begin(), slots->end(),
                          [](const RegionSlots::Slot& a, const RegionSlots::Slot& b) {
                            return (a.unseen > 0 ? 0 : a.region.hertz) < (b.unseen > 0 ? 0 : b.region.hertz);
                          });
}

}  // namespace

std::vector<FileRegion> RegionSlots::Recognise(const std::vector<FileRegion>& seen) {
  for (Slot& slot : slots_) ++slot.unseen;
  std::vector<FileRegion> newcomers;
  for (FileRegion& region : Unite(seen)) {
    const auto slot = std::find_if(slots_.begin(), slots_.end(),
                                   [&region](const Slot& s) { return Overlaps(s.region, region); });
    if (slot == slots_.end()) {
      newcomers.push_back(std::move(region));
    } else if (slot->unseen > 0) {  // a second run inside the same place is slower: nothing to add
      slot->unseen = 0;
      slot->region.hertz = region.hertz;
    }
  }
  std::erase_if(slots_, [](const Slot& slot) { return slot.unseen > kPatience; });
  return newcomers;
}

RegionSlots::Answer RegionSlots::Update(const std::vector<FileRegion>& seen, int places) {
  const size_t limit = static_cast<size_t>(std::max(places, 0));
  std::vector<FileRegion> newcomers = Recognise(seen);
  Answer answer;
  const auto drop_weakest = [this, &answer] {
    const auto weakest = Weakest(&slots_);
    answer.others += weakest->unseen == 0 ? 1 : 0;
    slots_.erase(weakest);
  };
  while (slots_.size() > limit) drop_weakest();
  for (FileRegion& region : newcomers) {
    if (slots_.size() == limit) {
      const auto weakest = Weakest(&slots_);
      if (weakest == slots_.end() ||
          (weakest->unseen == 0 && weakest->region.hertz >= kKeep * region.hertz)) {
        ++answer.others;
        continue;
      }
      drop_weakest();
    }
    std::string id = IdOf(region);
    slots_.push_back({std::move(id), std::move(region), 0});
  }
  for (const Slot& slot : slots_) {
    if (slot.unseen == 0) answer.shown.push_back(slot);
  }
  std::sort(answer.shown.begin(), answer.shown.end(),
            [](const Slot& a, const Slot& b) { return Faster(a.region, b.region); });
  return answer;
}

}  // namespace mempulse
