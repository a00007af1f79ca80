#include "tests/workloads/population.h"

#include <algorithm>

#include "absl/algorithm/container.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"

namespace mempulse {
namespace {

constexpr uint64_t kAlignmentPages = 16;

absl::Status UnknownTier(absl::string_view name) {
  const auto append_name = [](std::string* out, const Population& tier) { out->append(tier.name); };
  return absl::InvalidArgumentError(
      absl::StrCat("unknown tier \"", name, "\"; known: ", absl::StrJoin(AllTiers(), ", ", append_name)));
}

}  // namespace

std::vector<Population> AllTiers() {
  return {{"hot", kFlatOut, 4}, {"20khz", 20000, 2}, {"800hz", 800, 2}, {"warm", 200, 8},
          {"cool", 5, 8},       {"0.2hz", 0.2, 8},   {"cold", 0, 2048}};
}

absl::StatusOr<std::vector<Population>> ParseTiers(absl::string_view list) {
  const std::vector<std::string> wanted = absl::StrSplit(list, ',', absl::SkipWhitespace());
  std::vector<Population> tiers = AllTiers();
  for (const std::string& name : wanted) {
    if (absl::c_none_of(tiers, [&](const Population& tier) { return tier.name == name; })) {
      return UnknownTier(name);
    }
  }
  tiers.erase(
      std::remove_if(tiers.begin(), tiers.end(),
                     [&](const Population& tier) { return !absl::c_linear_search(wanted, tier.name); }),
      tiers.end());
  return tiers;
}

absl::StatusOr<Population> ParseExtra(absl::string_view text) {
  const std::vector<absl::string_view> parts = absl::StrSplit(text, 'x');
  Population extra;
  if (parts.size() != 2 || !absl::SimpleAtod(parts[0], &extra.hertz) ||
      !absl::SimpleAtoi(parts[1], &extra.pages) || !(extra.hertz > 0 && extra.hertz < 1e9) ||
      extra.pages == 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("\"", text, "\" is no population: write HERTZxPAGES, e.g. 800x2"));
  }
  extra.name = absl::StrCat("extra-", text);
  return extra;
}

uint64_t LayOut(std::vector<Population>* populations) {
  uint64_t next = 0;
  for (Population& population : *populations) {
    population.first_page = next;
    const uint64_t end = next + population.pages;
    next = (end + kAlignmentPages) / kAlignmentPages * kAlignmentPages;
  }
  return next;
}

}  // namespace mempulse
