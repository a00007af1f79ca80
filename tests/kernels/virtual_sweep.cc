#include "tests/kernels/virtual_sweep.h"

#include <stdexcept>
#include <utility>

#include "absl/strings/str_format.h"
#include "collectors/pages/softdirty_tracker.h"
#include "collectors/pages/sweep.h"
#include "exporter/analysis/invert_windows.h"
#include "tests/kernels/forwarding_softdirty.h"
#include "tests/kernels/timed_tracker.h"

namespace mempulse {
namespace {

// Notes when the bits are cleared.
class ClearTimes final : public ForwardingSoftDirty {
 public:
  ClearTimes(std::unique_ptr<SoftDirtyKernel> kernel, std::vector<int64_t>* times)
      : ForwardingSoftDirty(std::move(kernel)), times_(times) {}
  absl::Status Clear() override {
    times_->push_back(MonotonicNanos());
    return ForwardingSoftDirty::Clear();
  }

 private:
  std::vector<int64_t>* times_;
};

SweepRequest RequestOf(const VirtualSweep& plan, const Subject& subject) {
  SweepRequest request;
  request.options.windows = {absl::Milliseconds(20), absl::Milliseconds(5), absl::Milliseconds(2)};
  request.options.ceiling_window = absl::Milliseconds(2);
  request.options.jitter = subject.ignores_jitter ? 0 : plan.jitter;
  request.options.burst_limit = 1;
  request.spread = absl::Seconds(5);
  request.target_seconds = 100;
  request.own_seconds = 100;
  request.own_burst = 1;
  request.seed = plan.seed;
  request.only = {plan.area};
  request.open_gap = false;
  return request;
}

VirtualAnswer SweepOn(PageTracker* tracker, VirtualTime* time, pid_t pid, const VirtualSweep& plan,
                      const SweepRequest& request) {
  const Host host;
  SweepTarget door;
  door.mappings = [&] {
    bool truncated = false;
    return ReadMappings(host, pid, &truncated);
  };
  door.cpu_nanos = [&]() -> absl::StatusOr<int64_t> { return time->nanos(); };
  const int64_t begin = time->nanos();
  for (VirtualTime::Event event : plan.events) {
    event.due_nanos += begin;
    time->Add(std::move(event));
  }
  if (plan.flat_out_page != 0) time->AddFlatOut(plan.flat_out_page, 1);
  Sweep sweep(*tracker, *time, std::move(door));
  const absl::StatusOr<Sweep::Result> result = sweep.Run(request, std::stop_token());
  if (!result.ok()) throw std::runtime_error(std::string(result.status().message()));
  VirtualAnswer answer;
  answer.outcome = result->sample.outcome;
  answer.map = InvertWindows(result->sample);
  for (const RungSample& rung : result->sample.rungs) {
    answer.looks += rung.looks.size();
    for (const Look& look : rung.looks) answer.discarded += look.discarded ? 1 : 0;
  }
  return answer;
}

}  // namespace

VirtualTime::Event WritesOf(Puppet* puppet, uint64_t address, uint64_t pages, double hertz, double phase) {
  const double period = 1e9 / hertz;
  return {[puppet, address, pages] { puppet->Write(address, pages); }, static_cast<int64_t>(period),
          static_cast<int64_t>(period * phase)};
}

std::string DescribePage(const PageFrequency* page) {
  if (page == nullptr) return "never hit";
  return absl::StrFormat("%s %.4g Hz [%.4g, %.4g]", std::string(PageStateName(page->state)),
                         page->frequency_hertz, page->low_hertz, page->high_hertz);
}

const PageFrequency* FindPage(const FrequencyMap& map, uint64_t address) {
  for (const PageFrequency& page : map.pages) {
    if (page.address == address) return &page;
  }
  return nullptr;
}

VirtualAnswer RunVirtualSweep(const Subject& subject, Puppet* puppet, const VirtualSweep& plan) {
  const Host host;
  const Target target = OpenTarget(host, puppet->pid());
  VirtualTime time(puppet);
  std::vector<int64_t> clears;
  const auto inside = [&](std::unique_ptr<SoftDirtyKernel> kernel) {
    auto timed = std::make_unique<TimedSoftDirty>(std::move(kernel), &time, plan.costs);
    return std::make_unique<ClearTimes>(std::move(timed), &clears);
  };
  const std::unique_ptr<PageTracker> tracker =
      MakeSoftDirtyTracker(OpenKernelOf(subject, host, target, inside));
  const int64_t begin = time.nanos();
  VirtualAnswer answer = SweepOn(tracker.get(), &time, puppet->pid(), plan, RequestOf(plan, subject));
  for (const int64_t clear : clears) answer.clears.push_back(clear - begin);
  return answer;
}

VirtualAnswer RunVirtualSweepWith(std::unique_ptr<PageTracker> tracker, Puppet* puppet,
                                  const VirtualSweep& plan) {
  VirtualTime time(puppet);
  TimedTracker timed(std::move(tracker), &time);
  return SweepOn(&timed, &time, puppet->pid(), plan, RequestOf(plan, Subject{}));
}

}  // namespace mempulse
