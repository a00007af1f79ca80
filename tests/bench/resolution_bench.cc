// resolution_bench PID HOT COLD: how often 64 candidate pages of a process can be looked at and reset in a
// second. HOT: address of the demo's hot tier, from where 64 neighbouring pages are taken. COLD: of its cold
// tier, from where 60 scattered pages join the four hot ones. The reference is the published method in the
// same process: clear_refs of the whole address space and a read of its whole pagemap. Prints "NAME
// SECONDS_PER_LOOK" lines.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "collectors/host/clock.h"
#include "collectors/host/host.h"
#include "collectors/pages/range_set.h"
#include "collectors/pages/writeprotect_tracker.h"
#include "collectors/targets/mapping_list.h"
#include "collectors/targets/target.h"

namespace mempulse {
namespace {

constexpr int64_t kRunNanos = 1'000'000'000;

int Fail(const absl::Status& status) {
  std::fprintf(stderr, "resolution_bench: %s\n", std::string(status.message()).c_str());
  return 1;
}

absl::StatusOr<double> SecondsPerLook(PageTracker& tracker, const std::vector<PageRange>& ranges) {
  SystemClock clock;
  std::vector<PageRange> written;
  Instant reset;
  int looks = 0;
  const int64_t began = clock.MonotonicNanos();
  while (clock.MonotonicNanos() - began < kRunNanos) {
    written.clear();
    const absl::StatusOr<Instant> look = tracker.LookAndReset(ranges, &written, &reset);
    if (!look.ok()) return look.status();
    ++looks;
  }
  return static_cast<double>(clock.MonotonicNanos() - began) * 1e-9 / looks;
}

// One cycle of the published method; zero looks where clear_refs cannot be written.
absl::StatusOr<double> SecondsPerPublishedLook(const Host& host, pid_t pid,
                                               const std::vector<Mapping>& mappings) {
  absl::StatusOr<UniqueFd> clear = host.Open(host.ProcPath(pid, "clear_refs"), O_WRONLY);
  if (!clear.ok()) return clear.status();
  absl::StatusOr<UniqueFd> pagemap = host.Open(host.ProcPath(pid, "pagemap"), O_RDONLY);
  if (!pagemap.ok()) return pagemap.status();
  std::vector<char> entries(1 << 20);
  SystemClock clock;
  const int64_t began = clock.MonotonicNanos();
  if (write(clear->get(), "4", 1) != 1) return absl::InternalError("clear_refs");
  for (const Mapping& mapping : mappings) {
    if (!mapping.writable) continue;
    const uint64_t end = mapping.end / kPageSize * 8;
    for (uint64_t at = mapping.start / kPageSize * 8; at < end; at += entries.size()) {
      const size_t want = std::min<uint64_t>(entries.size(), end - at);
      if (pread(pagemap->get(), entries.data(), want, static_cast<off_t>(at)) < 0) break;
    }
  }
  return static_cast<double>(clock.MonotonicNanos() - began) * 1e-9;
}

int Run(pid_t pid, uint64_t hot, uint64_t cold) {
  const Host host;
  absl::StatusOr<ProcessFacts> facts = ReadProcessFacts(host, pid);
  if (!facts.ok()) return Fail(facts.status());
  const absl::StatusOr<Target> target = Target::Open(host, *facts);
  if (!target.ok()) return Fail(target.status());
  bool truncated = false;
  const absl::StatusOr<std::vector<Mapping>> mappings = ReadMappings(host, pid, &truncated);
  if (!mappings.ok()) return Fail(mappings.status());
  const absl::StatusOr<double> published = SecondsPerPublishedLook(host, pid, *mappings);
  if (!published.ok()) return Fail(published.status());
  const absl::StatusOr<std::unique_ptr<PageTracker>> tracker = OpenWriteProtectTracker(host, *target);
  if (!tracker.ok()) return Fail(tracker.status());
  const absl::StatusOr<Coverage> coverage = (*tracker)->Cover(*mappings, CoverOptions());
  if (!coverage.ok()) return Fail(coverage.status());
  std::vector<PageRange> scattered = {{hot, hot + 4 * kPageSize}};
  for (uint64_t i = 0; i < 60; ++i) {
    const uint64_t page = cold + i * 32 * kPageSize;
    scattered.push_back({page, page + kPageSize});
  }
  const absl::StatusOr<double> together = SecondsPerLook(**tracker, {{hot, hot + 64 * kPageSize}});
  if (!together.ok()) return Fail(together.status());
  // As the sweep does it: cold neighbours up to 256 pages away are walked over.
  const absl::StatusOr<double> apart = SecondsPerLook(**tracker, MergeRanges(scattered, 256));
  const absl::StatusOr<double> lone = SecondsPerLook(**tracker, MergeRanges(scattered));
  if (!apart.ok()) return Fail(apart.status());
  if (!lone.ok()) return Fail(lone.status());
  std::printf("pages %llu\nneighbours %.9f\nscattered %.9f\nlone %.9f\npublished %.9f\n",
              static_cast<unsigned long long>(coverage->pages), *together, *apart, *lone, *published);
  return 0;
}

}  // namespace
}  // namespace mempulse

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fprintf(stderr, "usage: resolution_bench PID HOT COLD (addresses in decimal)\n");
    return 2;
  }
  return mempulse::Run(std::atoi(argv[1]), std::strtoull(argv[2], nullptr, 10),
                       std::strtoull(argv[3], nullptr, 10));
}
