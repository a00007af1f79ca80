#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "exporter/publish/own_state.h"
#include "exporter/web/open_sockets.h"

namespace mempulse {

// What connections are counted by: an IPv4 address (also when it is written as a mapped IPv6 one), or the
// first 64 bits of an IPv6 address, which is what one customer is given.
std::string AddressKey(const std::string& numeric_address);

// Decides which connections may stay. An address holds at most `per_address` of them, and never more than are
// still free: so k greedy addresses leave a share of 1/(k+1) to the others. A connection that outlives its
// deadline is cut. Times are CLOCK_MONOTONIC nanoseconds. Thread-safe.
class ConnectionGate {
 public:
  using Key = std::tuple<std::string, int, int>;  // address and port of the peer, local port

  struct Doors {
    // Every connection of the server, accepted ones that wait for a thread included.
    std::function<std::vector<OpenConnection>()> list;
    // Ends one without waiting: a new one that is turned away, or one that is overdue.
    std::function<void(int fd, bool turned_away)> cut;
  };

  ConnectionGate(int per_address, int total, Doors doors)
      : per_address_(per_address), total_(total), doors_(std::move(doors)) {}

  // Looks for new connections and turns away those that are too many. A new one has until the deadline.
  void Admit(int64_t deadline_nanos) ABSL_LOCKS_EXCLUDED(mutex_);
  void Extend(const Key& key, int64_t deadline_nanos) ABSL_LOCKS_EXCLUDED(mutex_);
  // The owner is about to close the descriptor, and has closed it. Between the two it is never touched.
  void Closing(const Key& key) ABSL_LOCKS_EXCLUDED(mutex_);
  void Closed(const Key& key) ABSL_LOCKS_EXCLUDED(mutex_);

  void CutOverdue(int64_t now_nanos) ABSL_LOCKS_EXCLUDED(mutex_);
  // Cuts all and turns away all that follow.
  void Shut() ABSL_LOCKS_EXCLUDED(mutex_);

  std::array<uint64_t, kAllConnectionRefusals.size()> refused() const ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  struct Entry {
    std::string address_key;
    int fd = -1;
    int64_t deadline_nanos = 0;
    bool cut = false;  // no longer counted
  };
  bool MayEnter(const std::string& address_key) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Cut(Entry* entry, ConnectionRefusal why) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Uncount(const Entry& entry) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const int per_address_;
  const int total_;
  const Doors doors_;
  mutable absl::Mutex mutex_;
  bool shut_ ABSL_GUARDED_BY(mutex_) = false;
  int open_ ABSL_GUARDED_BY(mutex_) = 0;
  std::map<Key, Entry> entries_ ABSL_GUARDED_BY(mutex_);
  std::set<Key> closing_ ABSL_GUARDED_BY(mutex_);
  std::map<std::string, int> held_ ABSL_GUARDED_BY(mutex_);  // by address key
  std::array<uint64_t, kAllConnectionRefusals.size()> refused_ ABSL_GUARDED_BY(mutex_) = {};
};

}  // namespace mempulse
