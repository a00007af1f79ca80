#include "exporter/web/address_shares.h"

#include <gtest/gtest.h>

namespace mempulse {
namespace {

int EnterMany(AddressShares* shares, const std::string& address, int times) {
  int entered = 0;
  for (int i = 0; i < times; ++i) entered += shares->Enter(address) ? 1 : 0;
  return entered;
}

TEST(AddressShares, AnAddressHoldsAtMostItsLimit) {
  AddressShares shares(2, 64);
  EXPECT_EQ(EnterMany(&shares, "10.0.0.1", 5), 2);
  EXPECT_EQ(EnterMany(&shares, "10.0.0.2", 1), 1);
  EXPECT_EQ(shares.held(), 3);
}

TEST(AddressShares, ALeaverMakesRoom) {
  AddressShares shares(1, 64);
  EXPECT_TRUE(shares.Enter("10.0.0.1"));
  EXPECT_FALSE(shares.Enter("10.0.0.1"));
  shares.Leave("10.0.0.1");
  EXPECT_TRUE(shares.Enter("10.0.0.1"));
  shares.Leave("10.9.9.9");
  EXPECT_EQ(shares.held(), 1);
}

TEST(AddressShares, GreedyAddressesLeaveAShareToTheOthers) {
  AddressShares shares(100, 60);
  for (int i = 0; i < 100; ++i) {
    shares.Enter("10.0.0.1");
    shares.Enter("10.0.0.2");
  }
  EXPECT_EQ(shares.held(), 40);
  EXPECT_TRUE(shares.Enter("10.0.0.3"));
}

TEST(AddressShares, EvenWhenNothingIsFreeEachAddressMayHaveOne) {
  AddressShares shares(8, 1);
  EXPECT_TRUE(shares.Enter("10.0.0.1"));
  EXPECT_TRUE(shares.Enter("10.0.0.2"));
  EXPECT_FALSE(shares.Enter("10.0.0.2"));
}

TEST(AddressKey, MappedAndPrefix) {
  EXPECT_EQ(AddressKey("10.1.2.3"), "10.1.2.3");
  EXPECT_EQ(AddressKey("::ffff:10.1.2.3"), "10.1.2.3");
  EXPECT_EQ(AddressKey("2001:db8:1:2:3:4:5:6"), AddressKey("2001:db8:1:2:ffff::9"));
  EXPECT_NE(AddressKey("2001:db8:1:2::1"), AddressKey("2001:db8:1:3::1"));
  EXPECT_EQ(AddressKey("fe80::1%eth0"), AddressKey("fe80::2"));
}

}  // namespace
}  // namespace mempulse
