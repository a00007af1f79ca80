#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "collectors/host/clock.h"
#include "tests/kernels/forwarding_softdirty.h"
#include "tests/kernels/puppet.h"

namespace mempulse {

// Time that moves only when somebody waits or asks, and in which things happen at the moments that were
// agreed on: real bits of a real kernel, and a truth that no slow machine can change. One thread.
class VirtualTime final : public Clock {
 public:
  explicit VirtualTime(Puppet* puppet) : puppet_(puppet) {}

  // Something that happens at due_nanos and, unless period_nanos is 0, again and again.
  struct Event {
    std::function<void()> act;
    int64_t period_nanos = 0;
    int64_t due_nanos = 0;
  };
  void Add(Event event) { events_.push_back(std::move(event)); }
  // Written again after each clear, before anybody can look.
  void AddFlatOut(uint64_t address, uint64_t pages) { flat_out_.emplace_back(address, pages); }
  void NoteClear() { flat_out_due_ = true; }

  // Lets time pass; what is due until then happens.
  void AdvanceTo(int64_t nanos);
  void Advance(int64_t nanos) { AdvanceTo(nanos_ + nanos); }
  int64_t nanos() const { return nanos_; }

  absl::Time Now() override { return absl::FromUnixNanos(nanos_); }
  int64_t MonotonicNanos() override;
  bool WaitUntil(int64_t deadline_nanos, bool precise, const std::stop_token& stop) override;

 private:
  Puppet* puppet_;
  std::vector<Event> events_;
  std::vector<std::pair<uint64_t, uint64_t>> flat_out_;
  bool flat_out_due_ = false;
  int64_t nanos_ = 1'000'000'000;
};

// The kernel's calls, each of which takes its virtual time.
class TimedSoftDirty final : public ForwardingSoftDirty {
 public:
  struct Costs {
    int64_t read_nanos = 2'000;
    int64_t clear_nanos = 40'000;
    int64_t gap_nanos = 20'000;  // between the last read and the moment at which the bits are really cleared
  };
  TimedSoftDirty(std::unique_ptr<SoftDirtyKernel> kernel, VirtualTime* time, const Costs& costs)
      : ForwardingSoftDirty(std::move(kernel)), time_(time), costs_(costs) {}

  absl::Status Clear() override;
  absl::Status ReadEntries(uint64_t start, absl::Span<uint64_t> entries) override;
  absl::Status ScanDirty(const PageRange& range, std::vector<PageRange>* dirty) override;
  // Read once: a puppet that is swept keeps its mappings, and an emulator takes long to list them.
  absl::StatusOr<std::vector<Mapping>> ReadMappings() override;
  int64_t MonotonicNanos() override { return time_->MonotonicNanos(); }

 private:
  VirtualTime* time_;
  Costs costs_;
  std::vector<Mapping> mappings_;
};

}  // namespace mempulse
