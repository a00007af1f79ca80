#include "tests/safety/checked_work.h"

#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

namespace mempulse {

CheckedWork::CheckedWork(uint64_t pages) : words_(pages * 4096 / sizeof(uint64_t)) {
  memory_ = static_cast<uint64_t*>(
      mmap(nullptr, pages * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  madvise(memory_, pages * 4096, MADV_NOHUGEPAGE);
  expected_ = Sum();
}

CheckedWork::~CheckedWork() { munmap(memory_, words_ * sizeof(uint64_t)); }

uint64_t CheckedWork::Sum() {
  uint64_t sum = 0;
  double real = 1;
  for (uint64_t i = 0; i < words_; i += 64) {
    memory_[i] = i * 0x9e3779b97f4a7c15 ^ salt_;
    real = real * 1.0000001 + static_cast<double>(i);
  }
  for (uint64_t i = 0; i < words_; i += 64) sum = sum * 31 + (memory_[i] ^ salt_);
  return sum ^ static_cast<uint64_t>(real);
}

void CheckedWork::Round(VictimReport* report) {
  ++salt_;
  if (Sum() != expected_) ++report->errors;
  ++report->rounds;
}

void WorkUntilFinish(VictimReport* report, bool sleeping) {
  CheckedWork work(64);
  const int epoll = epoll_create1(EPOLL_CLOEXEC);
  report->ready = true;
  while (!report->finish) {
    work.Round(report);
    if (!sleeping) continue;
    epoll_event event{};
    if (syscall(SYS_epoll_wait, epoll, &event, 1, 1) < 0)
      ++(errno == EINTR ? report->interrupted : report->errors);
  }
}

}  // namespace mempulse
