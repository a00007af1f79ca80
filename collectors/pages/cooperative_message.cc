#include "collectors/pages/cooperative_message.h"

#include <sys/socket.h>

#include <cerrno>
#include <cstring>
#include <utility>
#include <vector>

#include "collectors/pages/userfaultfd.h"
#include "preload/attach_offer.h"

namespace mempulse {
namespace {

constexpr size_t kMostDescriptors = 4;  // the kernel closes what does not fit

// Closing the last owner of such a socket could wait for its peer.
void CloseAtOnce(UniqueFd fd) {
  const linger none{0, 0};
  setsockopt(fd.get(), SOL_SOCKET, SO_LINGER, &none, sizeof(none));
}

std::vector<UniqueFd> TakeDescriptors(msghdr* header) {
  std::vector<UniqueFd> taken;
  for (cmsghdr* control = CMSG_FIRSTHDR(header); control != nullptr; control = CMSG_NXTHDR(header, control)) {
    if (control->cmsg_level != SOL_SOCKET || control->cmsg_type != SCM_RIGHTS) continue;
    const size_t bytes = control->cmsg_len - CMSG_LEN(0);
    for (size_t at = 0; at + sizeof(int) <= bytes; at += sizeof(int)) {
      int fd = -1;
      memcpy(&fd, CMSG_DATA(control) + at, sizeof(fd));
      taken.emplace_back(fd);
    }
  }
  return taken;
}

bool IsOffer(const MempulseOffer& offer, ssize_t length) {
  return length == static_cast<ssize_t>(sizeof(offer)) &&
         memcmp(offer.magic, MEMPULSE_OFFER_MAGIC, sizeof(offer.magic)) == 0 &&
         offer.version == MEMPULSE_OFFER_VERSION;
}

ReceivedOffer Refused(OfferResult refusal) { return {ReceivedOffer::State::kRefused, refusal, UniqueFd()}; }

}  // namespace

absl::string_view OfferResultName(OfferResult result) {
  switch (result) {
    case OfferResult::kAccepted:
      return "accepted";
    case OfferResult::kReplaced:
      return "replaced";
    case OfferResult::kInvisible:
      return "invisible";
    case OfferResult::kOtherUser:
      return "other_user";
    case OfferResult::kSilent:
      return "silent";
    case OfferResult::kGarbage:
      return "garbage";
    case OfferResult::kNoDescriptor:
      return "no_descriptor";
    case OfferResult::kNotUserfaultfd:
      return "not_userfaultfd";
    case OfferResult::kKernel:
      return "kernel";
    case OfferResult::kGone:
      return "gone";
    case OfferResult::kTooMany:
      return "too_many";
  }
  return "";
}

bool ReadOfferPeer(int connection, OfferPeer* peer) {
  ucred credentials{};
  socklen_t size = sizeof(credentials);
  if (getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &credentials, &size) != 0) return false;
  *peer = {credentials.pid, credentials.uid};
  return true;
}

ReceivedOffer ReceiveOffer(int connection) {
  MempulseOffer offer{};
  iovec part{&offer, sizeof(offer)};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(kMostDescriptors * sizeof(int))> control{};
  msghdr header{};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  header.msg_control = control.data();
  header.msg_controllen = control.size();
  const ssize_t length = recvmsg(connection, &header, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  if (length < 0 && (errno == EAGAIN || errno == EINTR)) return {};
  if (length <= 0) return Refused(OfferResult::kSilent);
  std::vector<UniqueFd> descriptors = TakeDescriptors(&header);
  const bool whole = (header.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) == 0;
  OfferResult refusal = OfferResult::kAccepted;
  if (!whole || !IsOffer(offer, length)) {
    refusal = OfferResult::kGarbage;
  } else if (descriptors.size() != 1) {
    refusal = OfferResult::kNoDescriptor;
  } else if (!IsUserfaultfd(descriptors[0].get())) {
    refusal = OfferResult::kNotUserfaultfd;
  } else {
    return {ReceivedOffer::State::kReceived, OfferResult::kAccepted, std::move(descriptors[0])};
  }
  for (UniqueFd& fd : descriptors) CloseAtOnce(std::move(fd));
  return Refused(refusal);
}

}  // namespace mempulse
