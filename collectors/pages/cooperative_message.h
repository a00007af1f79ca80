#pragma once

#include <sys/types.h>

#include <array>
#include <cstdint>

#include "absl/strings/string_view.h"
#include "collectors/host/unique_fd.h"

namespace mempulse {

// What became of one connection to the offer socket. The first are good, the rest is why it was turned away.
enum class OfferResult {
  kAccepted,
  kReplaced,        // accepted; the process had an offer already (it has executed another program, say)
  kInvisible,       // the sender is in a process namespace that we cannot see into
  kOtherUser,       // the sender runs as another user, and we are not root
  kSilent,          // nothing came in time
  kGarbage,         // a message of another form or version
  kNoDescriptor,    // not exactly one descriptor
  kNotUserfaultfd,  // the descriptor is something else
  kKernel,   // the kernel refused asynchronous write protection (before Linux 6.7), or it was negotiated
             // before
  kGone,     // the sender ended meanwhile
  kTooMany,  // as many offers or connections wait as we hold
};
inline constexpr size_t kOfferResults = static_cast<size_t>(OfferResult::kTooMany) + 1;

// A word for a label, a static string.
absl::string_view OfferResultName(OfferResult result);

struct OfferPeer {
  pid_t pid = 0;  // in our process namespace; 0 when it is invisible there
  uid_t uid = 0;
};

// Who connected, as the kernel noted it then. False when it cannot be told.
bool ReadOfferPeer(int connection, OfferPeer* peer);

struct ReceivedOffer {
  enum class State { kNothingYet, kRefused, kReceived };
  State state = State::kNothingYet;
  OfferResult refusal = OfferResult::kGarbage;  // with kRefused
  UniqueFd userfaultfd;                         // with kReceived; nothing is negotiated on it by us
};

// Takes the one message of a connection if it is there. Never waits; closes whatever else came along.
ReceivedOffer ReceiveOffer(int connection);

}  // namespace mempulse
