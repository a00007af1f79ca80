#pragma once

#include <sys/types.h>

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "tests/workloads/population.h"

namespace mempulse {

// The demo's writer in a child process, with a journal of its own counts that can be read at any time. Killed
// and reaped at the end.
class PacedWriter {
 public:
  static constexpr size_t kMostTiers = 8;

  // Returns once the pages are there and the first entry of the journal is written; throws
  // std::runtime_error when that does not happen.
  explicit PacedWriter(std::vector<Population> populations);
  ~PacedWriter();
  PacedWriter(const PacedWriter&) = delete;
  PacedWriter& operator=(const PacedWriter&) = delete;

  pid_t pid() const { return pid_; }
  const std::vector<Population>& populations() const { return populations_; }
  // Of the first page of a tier.
  uint64_t AddressOf(size_t tier) const;

  // What the writer did between two moments (CLOCK_MONOTONIC), by its own count.
  struct Truth {
    double hertz = 0;
    int64_t missed = 0;               // periods that it gave up
    int64_t longest_pause_nanos = 0;  // beyond the pace of the journal
  };
  Truth Between(size_t tier, int64_t from_nanos, int64_t until_nanos) const;

 private:
  struct Entry {
    int64_t nanos;
    std::array<uint64_t, kMostTiers> writes;
    std::array<int64_t, kMostTiers> missed;
  };
  struct Journal;
  void Write();

  std::vector<Population> populations_;
  Journal* journal_ = nullptr;  // shared with the child
  pid_t pid_ = -1;
};

}  // namespace mempulse
