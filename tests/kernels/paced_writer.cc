#include "tests/kernels/paced_writer.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <stdexcept>

#include "absl/time/time.h"
#include "tests/workloads/writer_loop.h"

namespace mempulse {
namespace {

constexpr int64_t kPaceNanos = 10'000'000;
constexpr size_t kEntries = 30'000;  // five minutes
constexpr int64_t kPatienceNanos = 20'000'000'000;

}  // namespace

struct PacedWriter::Journal {
  std::atomic<size_t> filled;
  std::array<uint64_t, kMostTiers> addresses;
  Entry entries[kEntries];
};

void PacedWriter::Write() {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  WriterLoop::Options options;
  options.report_interval = absl::Nanoseconds(kPaceNanos);
  options.report = [this](const WorkloadReport& report) {
    const size_t place = journal_->filled.load(std::memory_order_relaxed);
    if (place >= kEntries) _exit(0);
    Entry& entry = journal_->entries[place];
    entry.nanos = report.monotonic_nanos;
    for (size_t i = 0; i < report.tiers.size(); ++i) {
      journal_->addresses[i] = report.tiers[i].address;
      entry.writes[i] = report.tiers[i].writes;
      entry.missed[i] = report.tiers[i].missed;
    }
    journal_->filled.store(place + 1, std::memory_order_release);
  };
  absl::StatusOr<WriterLoop> loop = WriterLoop::Create(populations_, std::move(options));
  const volatile std::sig_atomic_t never = 0;
  if (loop.ok()) loop->Run(never);
  _exit(1);
}

PacedWriter::PacedWriter(std::vector<Population> populations) : populations_(std::move(populations)) {
  void* shared = mmap(nullptr, sizeof(Journal), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED) throw std::runtime_error("no memory for the journal");
  journal_ = static_cast<Journal*>(shared);
  pid_ = fork();
  if (pid_ == 0) Write();
  const int64_t begin = NowNanos();
  while (journal_->filled.load(std::memory_order_acquire) == 0) {
    if (NowNanos() - begin > kPatienceNanos) throw std::runtime_error("the writer does not write");
    usleep(1000);
  }
}

PacedWriter::~PacedWriter() {
  if (pid_ > 0) {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  munmap(journal_, sizeof(Journal));
}

uint64_t PacedWriter::AddressOf(size_t tier) const { return journal_->addresses[tier]; }

PacedWriter::Truth PacedWriter::Between(size_t tier, int64_t from_nanos, int64_t until_nanos) const {
  const Entry* begin = journal_->entries;
  const Entry* end = begin + journal_->filled.load(std::memory_order_acquire);
  const auto before = [](const Entry& entry, int64_t nanos) { return entry.nanos < nanos; };
  const Entry* first = std::lower_bound(begin, end, from_nanos, before);
  const Entry* last = std::lower_bound(first, end, until_nanos, before);
  if (first != begin) --first;
  if (last == end) --last;
  Truth truth;
  if (last <= first) return truth;
  const double seconds = static_cast<double>(last->nanos - first->nanos) * 1e-9;
  truth.hertz = static_cast<double>(last->writes[tier] - first->writes[tier]) / seconds;
  truth.missed = last->missed[tier] - first->missed[tier];
  for (const Entry* entry = first; entry != last; ++entry) {
    truth.longest_pause_nanos =
        std::max(truth.longest_pause_nanos, entry[1].nanos - entry[0].nanos - kPaceNanos);
  }
  return truth;
}

}  // namespace mempulse
