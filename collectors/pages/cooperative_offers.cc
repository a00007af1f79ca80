#include "collectors/pages/cooperative_offers.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "collectors/host/errno_status.h"
#include "collectors/targets/process_stat.h"

namespace mempulse {
namespace {

constexpr int kAcceptedAtOnce = 64;
constexpr int64_t kBreathNanos = 5'000'000;  // between two batches: a flood costs us little
constexpr size_t kFirstDrop = 64;

int64_t MonotonicNanos() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1'000'000'000LL + now.tv_nsec;
}

OfferLimits WithinDescriptors(OfferLimits limits) {
  rlimit descriptors{};
  if (getrlimit(RLIMIT_NOFILE, &descriptors) == 0) {
    limits.offers = std::min<uint64_t>(limits.offers, descriptors.rlim_cur / 4);
  }
  return limits;
}

absl::Status NoOffer(const std::string& what) { return absl::UnavailableError(what); }

}  // namespace

absl::StatusOr<std::unique_ptr<CooperativeOffers>> CooperativeOffers::Open(const Host& host,
                                                                           const std::string& path,
                                                                           const OfferLimits& limits) {
  UniqueFd wake(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!wake.valid()) return ErrnoStatus("eventfd", "attach socket");
  absl::StatusOr<OfferSocket> socket = OfferSocket::Listen(path);
  if (!socket.ok()) return socket.status();
  std::unique_ptr<CooperativeOffers> offers(
      new CooperativeOffers(host, path, *std::move(socket), std::move(wake), WithinDescriptors(limits)));
  offers->thread_ = std::jthread([&self = *offers](const std::stop_token& stop) { self.Listen(stop); });
  return offers;
}

CooperativeOffers::CooperativeOffers(const Host& host, std::string path, OfferSocket socket, UniqueFd wake,
                                     const OfferLimits& limits)
    : host_(host),
      path_(std::move(path)),
      socket_(std::move(socket)),
      wake_(std::move(wake)),
      limits_(limits),
      next_drop_(kFirstDrop) {}

CooperativeOffers::~CooperativeOffers() {
  thread_.request_stop();
  eventfd_write(wake_.get(), 1);
}

const CooperativeOffers::Offer* CooperativeOffers::Find(const ProcessId& id) const {
  const auto found = offers_.find(id.pid);
  if (found == offers_.end() || found->second.start_time_ticks != id.start_time_ticks) return nullptr;
  return &found->second;
}

absl::StatusOr<WriteProtection> CooperativeOffers::Take(const ProcessId& id) {
  absl::StatusOr<WriteProtection> share = absl::UnavailableError("");
  {
    const std::lock_guard lock(mutex_);
    const Offer* const offer = Find(id);
    if (offer == nullptr) return NoOffer(absl::StrCat("the target has offered no userfaultfd on ", path_));
    share = offer->protection.Share();
  }
  if (!share.ok() || !share->AddressSpaceGone()) return share;
  return NoOffer(absl::StrCat("the target has left the memory for which it offered a userfaultfd on ", path_,
                              ", and has offered none since"));
}

uint64_t CooperativeOffers::Newest(const ProcessId& id) const {
  const std::lock_guard lock(mutex_);
  const Offer* const offer = Find(id);
  return offer != nullptr ? offer->number : 0;
}

void CooperativeOffers::Discard(const ProcessId& id) {
  std::optional<Offer> dropped;  // closed outside of the lock
  const std::lock_guard lock(mutex_);
  if (Find(id) == nullptr) return;
  const auto found = offers_.find(id.pid);
  dropped.emplace(std::move(found->second));
  offers_.erase(found);
}

size_t CooperativeOffers::held() const {
  const std::lock_guard lock(mutex_);
  return offers_.size();
}

std::array<uint64_t, kOfferResults> CooperativeOffers::results() const {
  const std::lock_guard lock(mutex_);
  return results_;
}

void CooperativeOffers::Count(OfferResult result) {
  const std::lock_guard lock(mutex_);
  ++results_[static_cast<size_t>(result)];
}

void CooperativeOffers::Listen(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    PollOnce();
    if (stop.stop_requested()) return;
    HearWaiting();
    AcceptSome();
    pollfd wake{wake_.get(), POLLIN, 0};
    const timespec breath{0, kBreathNanos};
    ppoll(&wake, 1, &breath, nullptr);
  }
}

// Until somebody connects, a silent connection speaks or runs out of time, or we are to end.
void CooperativeOffers::PollOnce() {
  std::vector<pollfd> events = {{wake_.get(), POLLIN, 0}, {socket_.fd(), POLLIN, 0}};
  for (const Waiting& waiting : waiting_) events.push_back({waiting.connection.get(), POLLIN, 0});
  int timeout_millis = -1;
  if (!waiting_.empty()) {
    const int64_t left = waiting_.front().deadline_nanos - MonotonicNanos();
    timeout_millis = static_cast<int>(std::max<int64_t>(left, 0) / 1'000'000 + 1);
  }
  poll(events.data(), events.size(), timeout_millis);
}

void CooperativeOffers::AcceptSome() {
  for (int i = 0; i < kAcceptedAtOnce; ++i) {
    UniqueFd connection(accept4(socket_.fd(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!connection.valid()) return;
    Welcome(std::move(connection));
  }
}

// The preload library has said everything before we get to see it; only strangers are silent.
void CooperativeOffers::Welcome(UniqueFd connection) {
  Waiting waiting;
  if (!ReadOfferPeer(connection.get(), &waiting.peer) || waiting.peer.pid <= 0) {
    Count(OfferResult::kInvisible);
    return;
  }
  if (geteuid() != 0 && waiting.peer.uid != geteuid()) {
    Count(OfferResult::kOtherUser);
    return;
  }
  waiting.connection = std::move(connection);
  waiting.deadline_nanos = MonotonicNanos() + absl::ToInt64Nanoseconds(limits_.patience);
  if (const std::optional<OfferResult> result = Hear(waiting); result.has_value()) {
    Count(*result);
    return;
  }
  waiting_.push_back(std::move(waiting));
  if (waiting_.size() <= limits_.waiting) return;
  waiting_.pop_front();
  Count(OfferResult::kTooMany);
}

void CooperativeOffers::HearWaiting() {
  const int64_t now = MonotonicNanos();
  std::deque<Waiting> still;
  for (Waiting& waiting : waiting_) {
    std::optional<OfferResult> result = Hear(waiting);
    if (!result.has_value() && now >= waiting.deadline_nanos) result = OfferResult::kSilent;
    if (result.has_value()) {
      Count(*result);
    } else {
      still.push_back(std::move(waiting));
    }
  }
  waiting_ = std::move(still);
}

std::optional<OfferResult> CooperativeOffers::Hear(const Waiting& waiting) {
  ReceivedOffer received = ReceiveOffer(waiting.connection.get());
  switch (received.state) {
    case ReceivedOffer::State::kNothingYet:
      return std::nullopt;
    case ReceivedOffer::State::kRefused:
      return received.refusal;
    case ReceivedOffer::State::kReceived:
      return Adopt(waiting.peer.pid, std::move(received.userfaultfd));
  }
  return std::nullopt;
}

OfferResult CooperativeOffers::Adopt(pid_t pid, UniqueFd userfaultfd) {
  absl::StatusOr<WriteProtection> protection = WriteProtection::Negotiate(std::move(userfaultfd));
  if (!protection.ok()) return OfferResult::kKernel;
  const absl::StatusOr<ProcessStat> stat = ReadProcessStat(host_, pid);
  if (!stat.ok() || stat->ended()) return OfferResult::kGone;
  if (held() >= std::min(next_drop_, limits_.offers)) DropEnded();
  std::optional<Offer> before;  // closed outside of the lock
  const std::lock_guard lock(mutex_);
  Offer offer{stat->id.start_time_ticks, ++last_number_, *std::move(protection)};
  if (const auto found = offers_.find(pid); found != offers_.end()) {
    before.emplace(std::exchange(found->second, std::move(offer)));
    return OfferResult::kReplaced;
  }
  if (offers_.size() >= limits_.offers) return OfferResult::kTooMany;
  offers_.emplace(pid, std::move(offer));
  return OfferResult::kAccepted;
}

void CooperativeOffers::DropEnded() {
  std::vector<ProcessId> held_ids;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [pid, offer] : offers_) held_ids.push_back({pid, offer.start_time_ticks});
  }
  for (const ProcessId& id : held_ids) {
    const absl::StatusOr<ProcessStat> stat = ReadProcessStat(host_, id.pid);
    if (!stat.ok() || !(stat->id == id) || stat->ended()) Discard(id);
  }
  next_drop_ = std::max(kFirstDrop, 2 * held());
}

}  // namespace mempulse
