#pragma once

#include <sys/types.h>

#include <cstdint>

#include "collectors/host/unique_fd.h"
#include "collectors/pages/page_range.h"

namespace mempulse {

// A child process that does to its own memory what it is told, one thing at a time: every call returns when
// it is done. A thing that the kernel refuses throws std::runtime_error here. Killed and reaped at the end.
class Puppet {
 public:
  // An address that nothing else is near to, for fixed mappings.
  static constexpr uint64_t kArea = uint64_t{1} << 40;

  Puppet();
  ~Puppet();
  Puppet(const Puppet&) = delete;
  Puppet& operator=(const Puppet&) = delete;

  pid_t pid() const { return pid_; }

  enum class Backing { kAnonymous, kShared, kPrivateFile, kSharedFile };
  // A fixed mapping, readable and writable.
  void Map(uint64_t address, uint64_t pages, Backing backing = Backing::kAnonymous);
  void Unmap(uint64_t address, uint64_t pages);
  void Write(uint64_t address, uint64_t pages = 1);  // a word of each page, never the one that was there
  void Read(uint64_t address, uint64_t pages = 1);
  void Protect(uint64_t address, uint64_t pages, bool writable);
  void Discard(uint64_t address, uint64_t pages);  // MADV_DONTNEED
  void AllowHugePages(uint64_t address, uint64_t pages);
  bool Collapse(uint64_t address, uint64_t pages);  // MADV_COLLAPSE; false where the kernel declines
  void Grow(uint64_t address, uint64_t pages, uint64_t new_pages);  // mremap in place
  void Move(uint64_t address, uint64_t pages, uint64_t to);         // mremap
  uint64_t Break(uint64_t pages);  // sbrk; where the new pages begin (page-aligned)
  // A child of the puppet writes the pages and ends.
  void WriteInFork(uint64_t address, uint64_t pages);

 private:
  struct Order {
    char what = 0;
    uint64_t address = 0;
    uint64_t pages = 0;
    uint64_t other = 0;
  };
  static int64_t Obey(const Order& order);
  [[noreturn]] static void Serve(int socket);
  int64_t Tell(const Order& order) const;
  void TellOrThrow(const Order& order) const;

  pid_t pid_ = -1;
  UniqueFd socket_;
};

}  // namespace mempulse
