#include "exporter/web/connection_gate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace mempulse {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// A gate over a list of connections that the test writes.
class ConnectionGateTest : public ::testing::Test {
 protected:
  ConnectionGate MakeGate(int per_address, int total) {
    return ConnectionGate(per_address, total,
                          {[this] { return open_; }, [this](int fd, bool) { cut_.push_back(fd); }});
  }
  void Open(int fd, const std::string& address) { open_.push_back({address, 1000 + fd, 80, fd}); }
  static ConnectionGate::Key KeyOf(const OpenConnection& c) { return {c.address, c.port, c.local_port}; }
  void CloseFirst(ConnectionGate* gate) {
    gate->Closing(KeyOf(open_.front()));
    const ConnectionGate::Key key = KeyOf(open_.front());
    open_.erase(open_.begin());
    gate->Closed(key);
  }

  std::vector<OpenConnection> open_;
  std::vector<int> cut_;
};

TEST_F(ConnectionGateTest, AnAddressHoldsAtMostItsLimit) {
  ConnectionGate gate = MakeGate(2, 64);
  for (int fd = 1; fd <= 3; ++fd) Open(fd, "10.0.0.1");
  Open(4, "10.0.0.2");
  gate.Admit(100);
  EXPECT_THAT(cut_, ElementsAre(3));
  EXPECT_EQ(gate.refused()[0], 1u);
}

TEST_F(ConnectionGateTest, ALeaverMakesRoom) {
  ConnectionGate gate = MakeGate(1, 64);
  Open(1, "10.0.0.1");
  gate.Admit(100);
  CloseFirst(&gate);
  Open(2, "10.0.0.1");
  gate.Admit(100);
  EXPECT_THAT(cut_, IsEmpty());
}

TEST_F(ConnectionGateTest, GreedyAddressesLeaveAShareToTheOthers) {
  ConnectionGate gate = MakeGate(100, 60);
  int fd = 0;
  for (int round = 0; round < 100; ++round) {
    for (const char* address : {"10.0.0.1", "10.0.0.2"}) Open(++fd, address);
    gate.Admit(100);
  }
  EXPECT_EQ(open_.size() - cut_.size(), 40u);
  Open(++fd, "10.0.0.3");
  gate.Admit(100);
  EXPECT_EQ(std::count(cut_.begin(), cut_.end(), fd), 0);
}

TEST_F(ConnectionGateTest, EvenWhenNothingIsFreeEachAddressMayHaveOne) {
  ConnectionGate gate = MakeGate(8, 1);
  Open(1, "10.0.0.1");
  Open(2, "10.0.0.2");
  Open(3, "10.0.0.2");
  gate.Admit(100);
  EXPECT_THAT(cut_, ElementsAre(3));
}

TEST_F(ConnectionGateTest, CutsWhatIsOverdueOnce) {
  ConnectionGate gate = MakeGate(8, 64);
  Open(1, "10.0.0.1");
  Open(2, "10.0.0.1");
  gate.Admit(100);
  gate.Extend(KeyOf(open_[1]), 200);
  gate.CutOverdue(100);
  EXPECT_THAT(cut_, IsEmpty());
  gate.CutOverdue(150);
  gate.CutOverdue(160);
  EXPECT_THAT(cut_, ElementsAre(1));
  EXPECT_EQ(gate.refused()[1], 1u);
}

TEST_F(ConnectionGateTest, ADescriptorThatIsBeingClosedIsNeverTouched) {
  ConnectionGate gate = MakeGate(8, 64);
  Open(1, "10.0.0.1");
  gate.Admit(100);
  gate.Closing(KeyOf(open_[0]));
  gate.Admit(100);  // still in the kernel's table
  gate.CutOverdue(1000);
  gate.Shut();
  EXPECT_THAT(cut_, IsEmpty());
}

TEST_F(ConnectionGateTest, ShutCutsAllAndAdmitsNoMore) {
  ConnectionGate gate = MakeGate(8, 64);
  Open(1, "10.0.0.1");
  gate.Admit(100);
  gate.Shut();
  Open(2, "10.0.0.1");
  gate.Admit(100);
  EXPECT_THAT(cut_, ElementsAre(1, 2));
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
