#pragma once

#include <cstdint>

namespace mempulse {

inline constexpr uint64_t kPageSize = 4096;  // x86-64 base page; a sample records it

// Whole pages [start, end) by address, in bytes, page-aligned.
struct PageRange {
  uint64_t start = 0;
  uint64_t end = 0;

  uint64_t pages() const { return (end - start) / kPageSize; }
  friend bool operator==(const PageRange& a, const PageRange& b) {
    return a.start == b.start && a.end == b.end;
  }
};

}  // namespace mempulse
