#pragma once

#include "collectors/pages/sweep_sample.h"
#include "collectors/targets/region_kind.h"
#include "exporter/ctl/capture_file.h"

// What a capture holds, in order. Any change here needs a new version of the file. `T` is const when writing.
namespace mempulse {

template <typename T, typename U>
concept Either = std::is_same_v<std::remove_const_t<T>, U>;

template <typename A, Either<PageRange> T>
void Fields(A& a, T& range) {
  a(range.start);
  a(range.end);
}

template <typename A, Either<Look> T>
void Fields(A& a, T& look) {
  a(look.window_seconds);
  a(look.slack_seconds);
  a(look.target_cpu);
  a(look.contiguous);
  a(look.discarded);
}

template <typename A, Either<PageHits> T>
void Fields(A& a, T& page) {
  a(page.address);
  a(page.first_look);
  a(page.look_count);
  a(page.hits);
  a(page.busy_looks);
  a(page.busy_hits);
  a(page.witness);
  a(page.hit_span_seconds);
  a(page.hit_gap_square_sum);
}

template <typename A, Either<RungSample::Hit> T>
void Fields(A& a, T& hit) {
  a(hit.page);
  a(hit.look);
}

template <typename A, Either<RungSample> T>
void Fields(A& a, T& rung) {
  a(rung.requested);
  a(rung.ranges);
  a(rung.page_share);
  a(rung.eligible_pages);
  a(rung.looks);
  a(rung.pages);
  a(rung.hits_per_second);
  a(rung.induced_faults);
  a(rung.cut_by_budget);
  a(rung.record);
}

template <typename A, Either<GapSample> T>
void Fields(A& a, T& gap) {
  a(gap.window_seconds);
  a(gap.looked);
  a(gap.written);
}

template <typename A, Either<SweepRegion> T>
void Fields(A& a, T& region) {
  a(region.range);
  a.OneOf(region.kind, static_cast<int>(kAllRegionKinds.size()));
  a(region.name);
  a(region.offset);
  a(region.inode);
  a(region.device_major);
  a(region.device_minor);
  a(region.writable);
  a(region.build_id);
}

template <typename A, Either<SweepSample> T>
void Fields(A& a, T& sample) {
  a.OneOf(sample.tracker, static_cast<int>(kAllTrackerKinds.size()));
  a(sample.atomic);
  a(sample.sees_restores);
  a(sample.page_size);
  a(sample.target_seconds_per_hit);
  a(sample.ceiling_window);
  a(sample.regions);
  a(sample.tracked_pages);
  a(sample.huge_pages_skipped);
  a(sample.rungs);
  a(sample.gap);
  a(sample.target_cpu);
  a(sample.duration_seconds);
  a.OneOf(sample.outcome, kSweepOutcomeCount);
}

template <typename A, Either<CaptureInfo> T>
void Fields(A& a, T& info) {
  a(info.exporter_version);
  a(info.kernel);
  a(info.comm);
  a(info.taken_at);
}

}  // namespace mempulse
