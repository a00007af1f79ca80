#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "collectors/host/host.h"
#include "collectors/host/unique_fd.h"
#include "collectors/pages/cooperative_message.h"
#include "collectors/pages/cooperative_socket.h"
#include "collectors/pages/userfaultfd.h"
#include "collectors/targets/process_id.h"

namespace mempulse {

struct OfferLimits {
  size_t offers = 512;  // held; never more than a quarter of our descriptors
  size_t waiting = 64;  // connections that have said nothing yet; the oldest goes first
  absl::Duration patience = absl::Seconds(1);  // with one that says nothing
};

// The userfaultfds that processes have handed over by themselves (preload/attach.c): listens on a Unix socket
// in a thread of its own and keeps one offer a process, the latest. A process is who the kernel says
// connected (SO_PEERCRED), visible in our process namespace, and of our own user unless we are root.
// Everything a client may do is bounded, counted and never waited for. Whether an offer is for the memory of
// its sender is proven when a tracker is opened on it. Thread-safe.
class CooperativeOffers {
 public:
  // Errors of OfferSocket::Listen. `host` may not go before it.
  static absl::StatusOr<std::unique_ptr<CooperativeOffers>> Open(const Host& host, const std::string& path,
                                                                 const OfferLimits& limits = {});
  CooperativeOffers(const CooperativeOffers&) = delete;
  CooperativeOffers& operator=(const CooperativeOffers&) = delete;
  ~CooperativeOffers();

  // A share of the userfaultfd that this process offered for the memory it has now; the offer stays and can
  // be taken again. Unavailable with a sentence when there is none; also for one of memory that it has left
  // (by an exec).
  absl::StatusOr<WriteProtection> Take(const ProcessId& id);
  // Which offer Take would share: a number that no other offer has; 0 when there is none.
  uint64_t Newest(const ProcessId& id) const;
  // For an offer that proved to be no good.
  void Discard(const ProcessId& id);

  size_t held() const;
  // Connections since the start, by OfferResult.
  std::array<uint64_t, kOfferResults> results() const;

 private:
  struct Offer {
    uint64_t start_time_ticks = 0;
    uint64_t number = 0;
    WriteProtection protection;
  };
  struct Waiting {
    UniqueFd connection;
    OfferPeer peer;
    int64_t deadline_nanos = 0;
  };

  CooperativeOffers(const Host& host, std::string path, OfferSocket socket, UniqueFd wake,
                    const OfferLimits& limits);
  void Listen(const std::stop_token& stop);
  void PollOnce();
  void AcceptSome();
  void Welcome(UniqueFd connection);
  void HearWaiting();
  // Nothing while the connection is silent.
  std::optional<OfferResult> Hear(const Waiting& waiting);
  OfferResult Adopt(pid_t pid, UniqueFd userfaultfd);
  const Offer* Find(const ProcessId& id) const;  // with the lock held; null when there is none
  void DropEnded();
  void Count(OfferResult result);

  const Host& host_;
  const std::string path_;
  const OfferSocket socket_;
  const UniqueFd wake_;
  const OfferLimits limits_;
  std::deque<Waiting> waiting_;  // of the listening thread
  size_t next_drop_ = 0;         // of the listening thread: at how many offers the ended ones are looked for

  mutable std::mutex mutex_;  // guards what follows; never held over a call that a target could delay
  std::map<pid_t, Offer> offers_;
  std::array<uint64_t, kOfferResults> results_{};
  uint64_t last_number_ = 0;
  std::jthread thread_;
};

}  // namespace mempulse
