#pragma once

#include <map>
#include <string>

namespace mempulse {

// What connections are counted by: an IPv4 address (also when it is written as a mapped IPv6 one), or the
// first 64 bits of an IPv6 address, which is what one customer is given.
std::string AddressKey(const std::string& numeric_address);

// How many connections each address may hold: at most `per_address`, and never more than are still free, so
// that k greedy addresses leave a share of 1/(k+1) to the others. One is always allowed. Not thread-safe.
class AddressShares {
 public:
  AddressShares(int per_address, int total) : per_address_(per_address), total_(total) {}

  bool Enter(const std::string& address_key);
  void Leave(const std::string& address_key);
  int held() const { return held_; }

 private:
  const int per_address_;
  const int total_;
  int held_ = 0;
  std::map<std::string, int> by_address_;
};

}  // namespace mempulse
