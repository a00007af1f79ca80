#include "tests/workloads/writer_loop.h"

#include <sys/mman.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "collectors/host/errno_status.h"

namespace mempulse {
namespace {

constexpr uint64_t kPageBytes = 4096;
constexpr int kFlatOutPasses = 64;          // between two looks at the clock: well under a microsecond
constexpr int64_t kShortestSleep = 80'000;  // nanoseconds; anything nearer is spun

}  // namespace

int64_t NowNanos() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1'000'000'000LL + now.tv_nsec;
}

absl::StatusOr<WriterLoop> WriterLoop::Create(std::vector<Population> populations, Options options) {
  const uint64_t bytes = std::max<uint64_t>(LayOut(&populations), 1) * kPageBytes;
  void* memory =
      mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return ErrnoStatus("mmap", "populations");
  madvise(memory, bytes, MADV_NOHUGEPAGE);
  WriterLoop loop(std::move(populations), std::move(options), static_cast<char*>(memory), bytes);
  for (const Population& population : loop.populations_) {
    char* first = loop.memory_ + population.first_page * kPageBytes;
    for (uint64_t page = 0; page < population.pages; ++page) first[page * kPageBytes] = 1;
  }
  return loop;
}

WriterLoop::WriterLoop(std::vector<Population> populations, Options options, char* memory, uint64_t bytes)
    : populations_(std::move(populations)),
      options_(std::move(options)),
      memory_(memory),
      bytes_(bytes),
      writes_(populations_.size()),
      reported_writes_(populations_.size()) {}

WriterLoop::WriterLoop(WriterLoop&& other) noexcept
    : populations_(std::move(other.populations_)),
      options_(std::move(other.options_)),
      memory_(std::exchange(other.memory_, nullptr)),
      bytes_(other.bytes_),
      writes_(std::move(other.writes_)),
      reported_writes_(std::move(other.reported_writes_)) {}

WriterLoop::~WriterLoop() {
  if (memory_ != nullptr) munmap(memory_, bytes_);
}

void WriterLoop::Start() {
  start_nanos_ = NowNanos();
  reported_nanos_ = start_nanos_;
  for (size_t i = 0; i < populations_.size(); ++i) {
    const double hertz = populations_[i].hertz;
    if (std::isinf(hertz)) {
      flat_out_.push_back(i);
    } else if (hertz > 0) {
      const double phase = std::fmod(0.618 * static_cast<double>(i + 1), 1.0);
      paced_.push_back({i, Pacer(hertz, start_nanos_, phase)});
    } else {
      writes_[i] = 1;
    }
  }
}

void WriterLoop::Run(const volatile std::sig_atomic_t& stop) {
  prctl(PR_SET_TIMERSLACK, 1UL);
  Start();
  const int64_t interval = absl::ToInt64Nanoseconds(options_.report_interval);
  const double seconds = std::min(absl::ToDoubleSeconds(options_.duration), 1e9);
  const int64_t end = start_nanos_ + static_cast<int64_t>(seconds * 1e9);
  int64_t report_due = start_nanos_ + interval;
  int64_t now = start_nanos_;
  while (stop == 0 && now < end) {
    WriteFlatOut();
    WriteDue(now);
    if (now >= report_due) {
      Report(now);
      report_due += interval;
    }
    if (options_.sleeps && flat_out_.empty()) SleepUntilDue(std::min(end, report_due));
    now = NowNanos();
  }
  Report(NowNanos());
}

void WriterLoop::WriteDue(int64_t now_nanos) {
  for (Paced& paced : paced_) {
    while (paced.pacer.Due(now_nanos)) WritePages(paced.index);
  }
}

void WriterLoop::WriteFlatOut() {
  for (const size_t index : flat_out_) {
    for (int pass = 0; pass < kFlatOutPasses; ++pass) WritePages(index);
  }
}

void WriterLoop::WritePages(size_t index) {
  const uint64_t count = ++writes_[index];
  const uint64_t pages = populations_[index].pages;
  char* page = memory_ + populations_[index].first_page * kPageBytes;
  for (uint64_t i = 0; i < pages; ++i, page += kPageBytes) {
    auto* word = reinterpret_cast<volatile uint64_t*>(page);
    const uint64_t before = *word;
    *word = count + 1;
    if (options_.restores) *word = before;
  }
}

void WriterLoop::SleepUntilDue(int64_t limit_nanos) const {
  int64_t due = limit_nanos;
  for (const Paced& paced : paced_) due = std::min(due, paced.pacer.due_nanos());
  if (due - NowNanos() < kShortestSleep) return;
  const timespec until = {due / 1'000'000'000, due % 1'000'000'000};
  clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, nullptr);
}

void WriterLoop::Report(int64_t now_nanos) {
  WorkloadReport report;
  report.pid = getpid();
  report.monotonic_nanos = now_nanos;
  report.seconds = static_cast<double>(now_nanos - start_nanos_) / 1e9;
  report.restores = options_.restores;
  const double since_last = std::max(static_cast<double>(now_nanos - reported_nanos_) / 1e9, 1e-9);
  for (size_t i = 0; i < populations_.size(); ++i) {
    const Population& population = populations_[i];
    report.tiers.push_back({population.name, population.hertz,
                            reinterpret_cast<uintptr_t>(memory_) + population.first_page * kPageBytes,
                            population.pages, writes_[i], 0,
                            static_cast<double>(writes_[i] - reported_writes_[i]) / since_last,
                            static_cast<double>(writes_[i]) / std::max(report.seconds, 1e-9)});
  }
  for (const Paced& paced : paced_) report.tiers[paced.index].missed = paced.pacer.missed();
  reported_writes_ = writes_;
  reported_nanos_ = now_nanos;
  if (options_.report) options_.report(report);
}

}  // namespace mempulse
