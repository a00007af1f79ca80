#include "tests/kernels/puppet.h"

#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <stdexcept>
#include <string>

#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE 25
#endif

namespace mempulse {
namespace {

// Addresses come as numbers from the process that commands this one.
void* PointerTo(uint64_t address) {
  return reinterpret_cast<void*>(address);  // NOLINT(performance-no-int-to-ptr)
}
volatile uint64_t* WordAt(uint64_t address) { return static_cast<volatile uint64_t*>(PointerTo(address)); }

// A write does not read first: that would map the page of zeros, the huge one too.
void TouchPages(uint64_t address, uint64_t pages, bool write) {
  static uint64_t content = 0;
  ++content;
  for (uint64_t page = address; page < address + pages * kPageSize; page += kPageSize) {
    if (write) {
      *WordAt(page) = content;
    } else {
      static_cast<void>(*WordAt(page));
    }
  }
}

int64_t MapFixed(uint64_t address, uint64_t pages, Puppet::Backing backing) {
  const bool file = backing == Puppet::Backing::kPrivateFile || backing == Puppet::Backing::kSharedFile;
  const bool shared = backing == Puppet::Backing::kShared || backing == Puppet::Backing::kSharedFile;
  int fd = -1;
  if (file) {
    char name[] = "/tmp/puppet.XXXXXX";
    fd = mkstemp(name);
    if (fd < 0 || unlink(name) != 0 || ftruncate(fd, static_cast<off_t>(pages * kPageSize)) != 0)
      return -errno;
  }
  const int flags = MAP_FIXED_NOREPLACE | (shared ? MAP_SHARED : MAP_PRIVATE) | (file ? 0 : MAP_ANONYMOUS);
  void* got = mmap(PointerTo(address), pages * kPageSize, PROT_READ | PROT_WRITE, flags, fd, 0);
  const int error = errno;
  if (fd >= 0) close(fd);
  if (got == MAP_FAILED) return -error;
  return 0;
}

int64_t Break(uint64_t pages) {
  const auto now = reinterpret_cast<uint64_t>(sbrk(0));
  const uint64_t start = (now + kPageSize - 1) / kPageSize * kPageSize;
  if (brk(PointerTo(start + pages * kPageSize)) != 0) return -errno;
  return static_cast<int64_t>(start);
}

int64_t WriteInFork(uint64_t address, uint64_t pages) {
  const pid_t child = fork();
  if (child == 0) {
    TouchPages(address, pages, true);
    _exit(0);
  }
  int status = 0;
  return child > 0 && waitpid(child, &status, 0) == child ? 0 : -errno;
}

int64_t Remap(uint64_t address, uint64_t pages, uint64_t new_pages, uint64_t to) {
  const int flags = to != 0 ? MREMAP_MAYMOVE | MREMAP_FIXED : 0;
  void* got = mremap(PointerTo(address), pages * kPageSize, new_pages * kPageSize, flags, PointerTo(to));
  return got == MAP_FAILED ? -errno : 0;
}

}  // namespace

int64_t Puppet::Obey(const Order& order) {
  const uint64_t bytes = order.pages * kPageSize;
  const auto errno_of = [](int result) { return result == 0 ? 0 : -errno; };
  switch (order.what) {
    case 'm':
      return MapFixed(order.address, order.pages, static_cast<Backing>(order.other));
    case 'u':
      return errno_of(munmap(PointerTo(order.address), bytes));
    case 'w':
    case 'r':
      TouchPages(order.address, order.pages, order.what == 'w');
      return 0;
    case 'p':
      return errno_of(
          mprotect(PointerTo(order.address), bytes, order.other != 0 ? PROT_READ | PROT_WRITE : PROT_READ));
    case 'a':
      return errno_of(madvise(PointerTo(order.address), bytes, static_cast<int>(order.other)));
    case 'g':
      return Remap(order.address, order.pages, order.other, 0);
    case 'v':
      return Remap(order.address, order.pages, order.pages, order.other);
    case 'b':
      return mempulse::Break(order.pages);
    case 'f':
      return mempulse::WriteInFork(order.address, order.pages);
    default:
      return -EINVAL;
  }
}

void Puppet::Serve(int socket) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  Order order;
  while (read(socket, &order, sizeof(order)) == static_cast<ssize_t>(sizeof(order))) {
    const int64_t answer = Obey(order);
    if (write(socket, &answer, sizeof(answer)) != static_cast<ssize_t>(sizeof(answer))) break;
  }
  _exit(0);
}

Puppet::Puppet() {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
    throw std::runtime_error("socketpair");
  // On one processor an order is a switch to the puppet and back; waking another one costs an emulator
  // dearly.
  cpu_set_t first;
  CPU_ZERO(&first);
  CPU_SET(0, &first);
  pid_ = fork();
  if (pid_ == 0) {
    sched_setaffinity(0, sizeof(first), &first);
    close(ends[0]);
    Serve(ends[1]);
  }
  sched_setaffinity(0, sizeof(first), &first);
  close(ends[1]);
  socket_.Reset(ends[0]);
}

Puppet::~Puppet() {
  if (pid_ <= 0) return;
  kill(pid_, SIGKILL);
  waitpid(pid_, nullptr, 0);
}

int64_t Puppet::Tell(const Order& order) const {
  int64_t answer = 0;
  if (write(socket_.get(), &order, sizeof(order)) != static_cast<ssize_t>(sizeof(order)) ||
      read(socket_.get(), &answer, sizeof(answer)) != static_cast<ssize_t>(sizeof(answer))) {
    throw std::runtime_error("the puppet is gone");
  }
  return answer;
}

void Puppet::TellOrThrow(const Order& order) const {
  const int64_t answer = Tell(order);
  if (answer < 0)
    throw std::runtime_error(std::string("order ") + order.what + ": errno " + std::to_string(-answer));
}

void Puppet::Map(uint64_t address, uint64_t pages, Backing backing) {
  TellOrThrow({'m', address, pages, static_cast<uint64_t>(backing)});
}
void Puppet::Unmap(uint64_t address, uint64_t pages) { TellOrThrow({'u', address, pages, 0}); }
void Puppet::Write(uint64_t address, uint64_t pages) { TellOrThrow({'w', address, pages, 0}); }
void Puppet::Read(uint64_t address, uint64_t pages) { TellOrThrow({'r', address, pages, 0}); }
void Puppet::Protect(uint64_t address, uint64_t pages, bool writable) {
  TellOrThrow({'p', address, pages, writable ? 1U : 0U});
}
void Puppet::Discard(uint64_t address, uint64_t pages) { TellOrThrow({'a', address, pages, MADV_DONTNEED}); }
void Puppet::AllowHugePages(uint64_t address, uint64_t pages) {
  TellOrThrow({'a', address, pages, MADV_HUGEPAGE});
}
bool Puppet::Collapse(uint64_t address, uint64_t pages) {
  return Tell({'a', address, pages, MADV_COLLAPSE}) == 0;
}
void Puppet::Grow(uint64_t address, uint64_t pages, uint64_t new_pages) {
  TellOrThrow({'g', address, pages, new_pages});
}
void Puppet::Move(uint64_t address, uint64_t pages, uint64_t to) { TellOrThrow({'v', address, pages, to}); }
uint64_t Puppet::Break(uint64_t pages) {
  const int64_t start = Tell({'b', 0, pages, 0});
  if (start < 0) throw std::runtime_error("sbrk");
  return static_cast<uint64_t>(start);
}
void Puppet::WriteInFork(uint64_t address, uint64_t pages) { TellOrThrow({'f', address, pages, 0}); }

}  // namespace mempulse
