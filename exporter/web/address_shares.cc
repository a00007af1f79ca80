#include "exporter/web/address_shares.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <algorithm>

namespace mempulse {

std::string AddressKey(const std::string& numeric_address) {
  in6_addr address = {};
  const std::string without_scope = numeric_address.substr(0, numeric_address.find('%'));
  if (inet_pton(AF_INET6, without_scope.c_str(), &address) != 1) return numeric_address;
  char text[INET6_ADDRSTRLEN] = {};
  if (IN6_IS_ADDR_V4MAPPED(&address)) {
    inet_ntop(AF_INET, &address.s6_addr[12], text, sizeof(text));
    return text;
  }
  std::fill(&address.s6_addr[8], &address.s6_addr[15] + 1, uint8_t{0});
  inet_ntop(AF_INET6, &address, text, sizeof(text));
  return text;
}

bool AddressShares::Enter(const std::string& address_key) {
  const auto found = by_address_.find(address_key);
  const int holds = found == by_address_.end() ? 0 : found->second;
  if (holds >= std::min(per_address_, std::max(1, total_ - held_))) return false;
  ++by_address_[address_key];
  ++held_;
  return true;
}

void AddressShares::Leave(const std::string& address_key) {
  const auto found = by_address_.find(address_key);
  if (found == by_address_.end()) return;
  --held_;
  if (--found->second == 0) by_address_.erase(found);
}

}  // namespace mempulse
