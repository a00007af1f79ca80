#include "exporter/analysis/run_profile.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "exporter/analysis/frequency_distribution.h"
#include "exporter/analysis/hot_regions.h"

namespace mempulse {
namespace {

// A floor this near to what the sweep resolves is at the instrument's ceiling and not at one of its rungs.
constexpr double kNearCeiling = 0.4;

size_t IndexOf(RegionKind kind) {
  return static_cast<size_t>(std::find(kAllRegionKinds.begin(), kAllRegionKinds.end(), kind) -
                             kAllRegionKinds.begin());
}

bool HasPlace(const PageFrequency& page, double ceiling_hertz) {
  if (page.weight <= 0 || page.frequency_hertz <= 0) return false;
  if (page.state == PageState::kMeasured || page.state == PageState::kTooFew) return true;
  return page.state == PageState::kAtCeiling && page.frequency_hertz >= kNearCeiling * ceiling_hertz;
}

std::string LadderText(const std::vector<absl::Duration>& windows) {
  return absl::StrJoin(windows, " ", [](std::string* out, absl::Duration window) {
    absl::StrAppend(out, absl::FormatDuration(window));
  });
}

void AddIdentities(const FrequencyMap& map, const std::vector<SweepRegion>& regions, RunProfile* profile) {
  // Pages that several mappings of one file share are one identity: the fastest counts.
  std::map<std::pair<std::string, uint64_t>, RunProfile::Identity> found;
  std::map<std::string, std::string> names;
  for (const PageFrequency& page : map.pages) {
    if (page.region < 0 || static_cast<size_t>(page.region) >= regions.size()) continue;
    if (page.frequency_hertz <= 0) continue;
    const SweepRegion& region = regions[static_cast<size_t>(page.region)];
    StableIdentity identity = IdentifyPage(region, page.address);
    if (identity.object.empty()) continue;
    names.try_emplace(identity.object, region.name);
    RunProfile::Identity& kept = found[{std::move(identity.object), identity.offset}];
    if (page.low_hertz < kept.low) continue;
    kept.offset = identity.offset;
    kept.hertz = static_cast<float>(page.frequency_hertz);
    kept.low = static_cast<float>(page.low_hertz);
    kept.high = static_cast<float>(page.steady_high_hertz);
  }
  for (auto& [id, name] : names) profile->objects.push_back({id, std::move(name)});
  for (auto& [key, identity] : found) {
    const auto object =
        std::lower_bound(profile->objects.begin(), profile->objects.end(), key.first,
                         [](const RunProfile::Object& a, const std::string& b) { return a.id < b; });
    identity.object = static_cast<uint32_t>(object - profile->objects.begin());
    profile->identities.push_back(identity);
  }
}

}  // namespace

std::string WhyIncomparable(const RunConditions& baseline, const RunConditions& live) {
  if (baseline.tracker != live.tracker) {
    return absl::StrCat("the baseline was taken with ", baseline.tracker, ", this run with ", live.tracker);
  }
  if (baseline.windows != live.windows) {
    return absl::StrCat("the baseline was taken with the windows ", LadderText(baseline.windows),
                        ", this run with ", LadderText(live.windows));
  }
  const bool counted =
      baseline.reference_window > absl::ZeroDuration() && live.reference_window > absl::ZeroDuration();
  if (counted && baseline.reference_window != live.reference_window) {
    return absl::StrCat("the baseline counted its ceiling population at ",
                        absl::FormatDuration(baseline.reference_window), ", this run at ",
                        absl::FormatDuration(live.reference_window));
  }
  if (baseline.page_size_bytes != live.page_size_bytes) {
    return absl::StrCat("the baseline has pages of ", baseline.page_size_bytes, " bytes, this run of ",
                        live.page_size_bytes);
  }
  return "";
}

RunProfile MakeRunProfile(const FrequencyMap& map, const std::vector<SweepRegion>& regions, RunFacts facts) {
  RunProfile profile;
  profile.conditions = std::move(facts.conditions);
  profile.conditions.reference_window = map.reference_window;
  profile.build_id = std::move(facts.build_id);
  profile.taken_at = facts.taken_at;
  profile.seen_share = map.wide_share;
  std::vector<RateClaim> whole;
  std::array<std::vector<RateClaim>, kAllRegionKinds.size()> by_kind;
  for (const PageFrequency& page : map.pages) {
    if (!HasPlace(page, map.ceiling_hertz)) continue;
    const RateClaim claim{page.frequency_hertz, page.low_hertz, page.steady_high_hertz, page.weight};
    whole.push_back(claim);
    by_kind[IndexOf(page.kind)].push_back(claim);
  }
  profile.whole = RankCurve::FromClaims(std::move(whole));
  const FrequencyDistribution distribution = Distribute(map);
  for (size_t kind = 0; kind < by_kind.size(); ++kind) {
    profile.kinds[kind] = RankCurve::FromClaims(std::move(by_kind[kind]));
    const KindDistribution& counted = distribution.kinds[kind];
    profile.ceiling_by_kind[kind] = {counted.ceiling_population, counted.ceiling_low, counted.ceiling_high};
    profile.ceiling.pages += counted.ceiling_population;
    profile.ceiling.low += counted.ceiling_low;
    profile.ceiling.high += counted.ceiling_high;
  }
  AddIdentities(map, regions, &profile);
  return profile;
}

}  // namespace mempulse
