#include "collectors/pages/cooperative_decision.h"

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "collectors/pages/cooperative_offers.h"
#include "collectors/pages/tracker_decision.h"

namespace mempulse {
namespace {

constexpr char kHowToOffer[] =
    "start the target after the exporter, with LD_PRELOAD naming libmempulse_attach.so and "
    "MEMPULSE_ATTACH_SOCKET "
    "naming attach_socket (docs/cooperative-attach.md)";

TrackerSupport Refused(AccessRefusal refusal) {
  return {TrackerKind::kWriteProtect, false, std::move(refusal.reason), std::move(refusal.detail),
          std::move(refusal.remedy)};
}

AccessRefusal ExplainNoOffer(const TargetAccess& access, const absl::Status& offer) {
  const std::string what(offer.message());
  if (access.target.seccomp_mode == 0) return {"no_offer", what, kHowToOffer};
  return {"no_offer",
          absl::StrCat(what, "; it runs under a seccomp filter (Seccomp: ", access.target.seccomp_mode,
                       "), where the preload library offers only if it is told that userfaultfd is allowed"),
          absl::StrCat(kHowToOffer,
                       ", and with MEMPULSE_ATTACH_UNDER_SECCOMP=1 under a profile that allows userfaultfd")};
}

}  // namespace

absl::Status OfferStatus(CooperativeOffers* offers, const ProcessId& id) {
  if (offers == nullptr) {
    return absl::UnavailableError(
        "the exporter listens on no attach_socket; after adding one it has to be restarted");
  }
  return offers->Take(id).status();
}

TrackerSupport DecideCooperative(const TrackerSupport& own, const TargetAccess& access,
                                 const absl::Status& offer) {
  if (access.gone) return Refused({"target_gone", "the target has exited", ""});
  const bool only_denied_to_us = own.reason == "seccomp";
  if (!own.supported && !only_denied_to_us) return own;
  if (access.is_32_bit) return Refused({"architecture", "the target is a 32-bit program", ""});
  for (const AccessPoint point : {AccessPoint::kMaps, AccessPoint::kPagemap}) {
    if (AccessError(point, access.errors) != 0) return Refused(ExplainRefusal(point, access));
  }
  if (!offer.ok()) return Refused(ExplainNoOffer(access, offer));
  return {TrackerKind::kWriteProtect, true, "ok", "", ""};
}

}  // namespace mempulse
