#include "exporter/publish/snapshot_builder.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/str_join.h"
#include "exporter/publish/family_book.h"
#include "exporter/publish/group_metrics.h"
#include "exporter/publish/group_summary.h"
#include "exporter/publish/gzip.h"
#include "exporter/publish/own_metrics.h"
#include "exporter/publish/targets_json.h"

namespace mempulse {
namespace {

Snapshot::TargetSummary SummaryLine(const GroupReport& group, const GroupSummary& summary) {
  Snapshot::TargetSummary line;
  line.name = group.name;
  line.matched = group.matched;
  line.swept = summary.swept;
  line.trackers = absl::StrJoin(summary.trackers, ", ");
  line.measured = summary.measured;
  for (const KindDistribution& kind : summary.distribution.kinds)
    line.ceiling_pages += kind.ceiling_population;
  line.hottest_hertz = summary.distribution.hottest_hertz;
  line.problems = group.problems;
  return line;
}

// Reports of groups that a reload removed must not keep their places.
template <typename Map>
void ForgetOthers(const std::vector<GroupReport>& groups, Map* by_name) {
  std::erase_if(*by_name, [&groups](const auto& entry) {
    return std::none_of(groups.begin(), groups.end(),
                        [&entry](const GroupReport& group) { return group.name == entry.first; });
  });
}

}  // namespace

std::shared_ptr<const Snapshot> SnapshotBuilder::Build(const RoundReport& report, const OwnState& own) {
  auto snapshot = std::make_shared<Snapshot>();
  FamilyBook book;
  AddRoundMetrics(report, options_.build, &book);
  if (options_.exporter_metrics) AddOwnMetrics(own, &book);
  ForgetOthers(report.groups, &slots_);
  for (const GroupReport& group : report.groups) {
    const GroupSummary summary = SummariseGroup(group);
    AddGroupMetrics(group, summary, options_.limits.hot_regions, &slots_[group.name], &book);
    snapshot->targets.push_back(SummaryLine(group, summary));
  }
  constexpr size_t kOfTheLimitItself = 2;  // the two samples below
  const size_t limit = static_cast<size_t>(std::max(options_.limits.max_series, 0));
  dropped_series_ += book.Trim(limit - std::min(limit, kOfTheLimitItself));
  book.Add(Metric("mempulse_series_dropped_total"), {"max_series"}, static_cast<double>(dropped_series_));
  book.Add(Metric("mempulse_series"), {}, static_cast<double>(book.series() + 1));

  for (const MetricGroup group : kAllMetricGroups) {
    snapshot->parts.push_back({MetricGroupName(group), book.Render(group)});
    snapshot->text += snapshot->parts.back().text;
  }
  snapshot->gzip = GzipText(snapshot->text);
  snapshot->targets_json = RenderTargetsJson(report);
  snapshot->series = book.series();
  snapshot->round = report.number;
  snapshot->round_finished = report.finished;
  snapshot->build = options_.build;
  return snapshot;
}

}  // namespace mempulse
