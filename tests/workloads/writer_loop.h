#pragma once

#include <csignal>
#include <cstdint>
#include <functional>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "tests/workloads/pacer.h"
#include "tests/workloads/population.h"
#include "tests/workloads/report.h"

namespace mempulse {

// CLOCK_MONOTONIC.
int64_t NowNanos();

// Writes the pages of populations at their rates on the calling thread: one anonymous private mapping without
// huge pages, which it owns. Every page is touched once by Create. Not thread-safe.
class WriterLoop {
 public:
  struct Options {
    bool restores = false;  // each write is undone at once, so that no content ever changes
    bool sleeps = false;    // gives the processor up between due times (no effect with a flat-out population)
    absl::Duration duration = absl::InfiniteDuration();
    absl::Duration report_interval = absl::Seconds(1);
    std::function<void(const WorkloadReport&)> report;  // called on the writing thread, and once at the end
  };

  static absl::StatusOr<WriterLoop> Create(std::vector<Population> populations, Options options);
  WriterLoop(WriterLoop&& other) noexcept;
  WriterLoop& operator=(WriterLoop&&) = delete;
  ~WriterLoop();

  // Returns when the duration is over or *stop became non-zero (from a signal handler of this thread).
  void Run(const volatile std::sig_atomic_t& stop);

 private:
  struct Paced {
    size_t index = 0;
    Pacer pacer;
  };

  WriterLoop(std::vector<Population> populations, Options options, char* memory, uint64_t bytes);
  void Start();
  void WriteDue(int64_t now_nanos);
  void WriteFlatOut();
  void WritePages(size_t index);
  void SleepUntilDue(int64_t limit_nanos) const;
  void Report(int64_t now_nanos);

  std::vector<Population> populations_;
  Options options_;
  char* memory_;
  uint64_t bytes_;
  int64_t start_nanos_ = 0;
  int64_t reported_nanos_ = 0;
  std::vector<uint64_t> writes_;
  std::vector<uint64_t> reported_writes_;
  std::vector<Paced> paced_;
  std::vector<size_t> flat_out_;
};

}  // namespace mempulse
