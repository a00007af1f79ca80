#include "exporter/web/connection_gate.h"

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

bool ConnectionGate::MayEnter(const std::string& address_key) const {
  if (shut_) return false;
  const auto held = held_.find(address_key);
  const int holds = held == held_.end() ? 0 : held->second;
  return holds < std::min(per_address_, std::max(1, total_ - open_));
}

void ConnectionGate::Admit(int64_t deadline_nanos) {
  absl::MutexLock lock(&mutex_);
  for (const OpenConnection& connection : doors_.list()) {
    const Key key = {connection.address, connection.port, connection.local_port};
    if (entries_.contains(key) || closing_.contains(key)) continue;
    Entry& entry = entries_[key];
    entry = {AddressKey(connection.address), connection.fd, deadline_nanos, false};
    const bool stays = MayEnter(entry.address_key);
    ++held_[entry.address_key];
    ++open_;
    if (!stays) Cut(&entry, ConnectionRefusal::kAddressLimit);
  }
}

void ConnectionGate::Extend(const Key& key, int64_t deadline_nanos) {
  absl::MutexLock lock(&mutex_);
  const auto entry = entries_.find(key);
  if (entry != entries_.end()) entry->second.deadline_nanos = deadline_nanos;
}

void ConnectionGate::Closing(const Key& key) {
  absl::MutexLock lock(&mutex_);
  closing_.insert(key);
  const auto entry = entries_.find(key);
  if (entry == entries_.end()) return;
  Uncount(entry->second);
  entries_.erase(entry);
}

void ConnectionGate::Closed(const Key& key) {
  absl::MutexLock lock(&mutex_);
  closing_.erase(key);
}

void ConnectionGate::Uncount(const Entry& entry) {
  if (entry.cut) return;
  --open_;
  const auto held = held_.find(entry.address_key);
  if (--held->second == 0) held_.erase(held);
}

void ConnectionGate::Cut(Entry* entry, ConnectionRefusal why) {
  if (entry->cut) return;
  Uncount(*entry);
  entry->cut = true;
  ++refused_[static_cast<size_t>(why)];
  doors_.cut(entry->fd, why == ConnectionRefusal::kAddressLimit);
}

void ConnectionGate::CutOverdue(int64_t now_nanos) {
  absl::MutexLock lock(&mutex_);
  for (auto& [key, entry] : entries_) {
    if (entry.deadline_nanos < now_nanos) Cut(&entry, ConnectionRefusal::kOverdue);
  }
}

void ConnectionGate::Shut() {
  absl::MutexLock lock(&mutex_);
  shut_ = true;
  for (auto& [key, entry] : entries_) Cut(&entry, ConnectionRefusal::kOverdue);
}

std::array<uint64_t, kAllConnectionRefusals.size()> ConnectionGate::refused() const {
  absl::MutexLock lock(&mutex_);
  return refused_;
}

}  // namespace mempulse
