#include "tests/unit/exporter/publish/report_fixture.h"

#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"

namespace mempulse {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
const absl::Time kStart = absl::FromUnixSeconds(1'700'000'000);

size_t Index(RegionKind kind) { return static_cast<size_t>(kind); }

SweepRegion Region(uint64_t start, uint64_t end, RegionKind kind, std::string name, std::string build_id) {
  SweepRegion region;
  region.range = {start, end};
  region.kind = static_cast<int>(kind);
  region.name = std::move(name);
  region.offset = 0x2000;
  region.inode = 77;
  region.build_id = std::move(build_id);
  return region;
}

HotRegion Run(uint64_t start, uint64_t pages, int region, RegionKind kind, PageState state, double hertz) {
  HotRegion run;
  run.start = start;
  run.end = start + pages * kPageSize;
  run.state = state;
  run.frequency_hertz = hertz;
  run.low_hertz = hertz * 0.9;
  run.high_hertz = state == PageState::kAtCeiling ? kInfinity : hertz * 1.1;
  run.weight = static_cast<double>(pages);
  run.z = 3.5;
  run.region = region;
  run.kind = kind;
  run.rungs = {{absl::Milliseconds(20), 10, 10}, {absl::Microseconds(250), 40, 40}};
  return run;
}

TrackerSupport Support(TrackerKind kind, bool supported, std::string reason) {
  TrackerSupport support;
  support.kind = kind;
  support.supported = supported;
  support.reason = std::move(reason);
  support.detail = supported ? "probe passed" : "the kernel answered EPERM";
  return support;
}

RungSummary Rung(absl::Duration requested, double mean, uint64_t looks, double pages, double share,
                 bool cut) {
  RungSummary rung;
  rung.requested = requested;
  rung.mean_window_seconds = mean;
  rung.looks = looks;
  rung.pages = pages;
  rung.page_share = share;
  rung.induced_faults = looks * 3;
  rung.cut_by_budget = cut;
  return rung;
}

ProcessReport CacheMaster() {
  ProcessReport process;
  process.id = {4321, 987654};
  process.comm = "cache";
  process.exe = "/usr/bin/cache";
  process.swept_at = kStart + absl::Seconds(4);
  process.tracker = "writeprotect";
  process.support = {Support(TrackerKind::kWriteProtect, true, "ok"),
                     Support(TrackerKind::kSoftDirty, true, "ok"),
                     Support(TrackerKind::kHashDiff, true, "ok")};
  process.outcome = SweepOutcome::kComplete;
  process.sweep_seconds = 3.25;
  process.tracked_pages = 7300;
  process.huge_pages_skipped = 512;
  process.refused_pages = {{"shared", 64}, {"special", 2}};
  process.map.tracked_pages = 7300;
  process.map.written_pages = 120;
  process.map.ceiling_hertz = 50000;
  process.map.reference_window = absl::Microseconds(250);
  process.distribution.kinds[Index(RegionKind::kHeap)].pages = {0, 8, 8, 0, 10, 2, 0, 0};
  process.distribution.kinds[Index(RegionKind::kHeap)].by_state = {28, 4, 1, 0, 2, 70};
  process.distribution.kinds[Index(RegionKind::kHeap)].ceiling_population = 6;
  process.distribution.kinds[Index(RegionKind::kHeap)].ceiling_low = 4.5;
  process.distribution.kinds[Index(RegionKind::kHeap)].ceiling_high = 9;
  process.distribution.kinds[Index(RegionKind::kFileData)].pages = {0, 0, 0, 2, 0, 0, 0, 0};
  process.distribution.kinds[Index(RegionKind::kFileData)].by_state = {2, 0, 0, 0, 0, 0};
  process.distribution.hottest_hertz = 61234.5;
  process.regions = {
      Region(0x7f0000000000, 0x7f0000010000, RegionKind::kFileData, "/usr/lib/libcache.so.1", "c0ffee"),
      Region(0x7f1000000000, 0x7f1000010000, RegionKind::kFileData, "/tmp/a \"b\"\nc\xff\\d", ""),
      Region(0x555500000000, 0x555500100000, RegionKind::kHeap, "[heap]", "")};
  process.hot_regions = {Run(0x555500004000, 4, 2, RegionKind::kHeap, PageState::kAtCeiling, 50000),
                         Run(0x7f0000001000, 1, 0, RegionKind::kFileData, PageState::kMeasured, 212.5),
                         Run(0x7f1000003000, 1, 1, RegionKind::kFileData, PageState::kMeasured, 199)};
  process.rungs = {Rung(absl::Milliseconds(20), 0.0201, 40, 7300, 1, false),
                   Rung(absl::Microseconds(250), 0.000262, 200, 30, 0.25, true)};
  process.gap_seconds = 11.5;
  process.gap_written_pages = 900;
  process.budget_used = 0.0075;
  return process;
}

ProcessReport CacheWorker() {
  ProcessReport process = CacheMaster();
  process.id = {4322, 987700};
  process.tracker = "hashdiff";
  process.support[0] = Support(TrackerKind::kWriteProtect, false, "seccomp");
  process.support[1] = Support(TrackerKind::kSoftDirty, false, "capability");
  process.swept_at = kStart + absl::Seconds(5);
  process.sweep_seconds = 4;
  process.map.ceiling_hertz = 4000;
  process.hot_regions.resize(2);
  process.hot_regions[1].frequency_hertz = 240;
  process.rungs[0].looks = 20;
  process.rungs[0].mean_window_seconds = 0.0207;
  process.gap_seconds = 0;
  return process;
}

}  // namespace

RoundReport FixtureReport() {
  RoundReport report;
  report.number = 12;
  report.started = kStart;
  report.finished = kStart + absl::Milliseconds(5500);
  report.interval = absl::Seconds(15);
  report.own_support = {Support(TrackerKind::kWriteProtect, true, "ok"),
                        Support(TrackerKind::kSoftDirty, false, "kernel"),
                        Support(TrackerKind::kHashDiff, true, "ok")};
  report.collectors = {{"targets", true, 0.002}, {"pages", false, 5.25}};
  report.last_reload_at = kStart - absl::Hours(1);

  GroupReport cache;
  cache.name = "cache";
  cache.matched = 3;
  cache.processes = {CacheMaster(), CacheWorker()};
  cache.success = true;
  cache.budget = 0.01;
  cache.totals.sweeps = {{"complete", 23}, {"time_limit", 1}};
  cache.totals.errors = {{"target_gone", 1}};
  cache.totals.observations = {0, 80, 90, 20, 110, 20, 0, 40, 0};
  cache.totals.observation_sum_hertz = 2345678.5;
  cache.totals.effect = {0.0125, 3, 45678, 7, 0.75, 6.5};
  cache.totals.cross_checks = 23;
  cache.totals.cross_check = {310, 900, 41, 1};

  GroupReport api;
  api.name = "api";
  api.matched = 1;
  api.budget = 0.01;
  api.problems = {"process 99: writeprotect: attach is not allowed"};
  api.processes.resize(1);
  api.processes[0].id = {99, 5};
  api.processes[0].comm = "api\xc3";
  api.processes[0].tracker = "none";
  api.processes[0].support = {Support(TrackerKind::kWriteProtect, false, "not_allowed"),
                              Support(TrackerKind::kSoftDirty, false, "kernel"),
                              Support(TrackerKind::kHashDiff, false, "other_user")};
  api.totals.errors = {{"tracker", 12}};

  GroupReport idle;
  idle.name = "idle";
  idle.success = true;
  idle.budget = 0.01;
  report.groups = {cache, api, idle};
  return report;
}

ProcessReport ProcessWithFileRegions(int regions) {
  ProcessReport process = CacheMaster();
  process.regions.clear();
  process.hot_regions.clear();
  for (int i = 0; i < regions; ++i) {
    const uint64_t start = 0x7f0000000000 + static_cast<uint64_t>(i) * 0x100000;
    process.regions.push_back(Region(start, start + 0x10000, RegionKind::kFileData,
                                     absl::StrCat("/lib/", i, ".so"), absl::StrCat("b", i)));
    process.hot_regions.push_back(
        Run(start, 1, i, RegionKind::kFileData, PageState::kMeasured, 1000.0 - static_cast<double>(i)));
  }
  return process;
}

RoundReport LargeReport(int groups, int regions) {
  RoundReport report = FixtureReport();
  report.groups.resize(1);
  report.groups[0].processes = {ProcessWithFileRegions(regions)};
  for (KindDistribution& kind : report.groups[0].processes[0].distribution.kinds) {
    kind.pages = {1, 2, 3, 4, 5, 6, 7, 8};
    kind.by_state = {36, 0, 0, 0, 0, 0};
  }
  report.groups.resize(static_cast<size_t>(groups), report.groups[0]);
  for (int i = 0; i < groups; ++i) report.groups[static_cast<size_t>(i)].name = absl::StrCat("group", i);
  return report;
}

}  // namespace mempulse
