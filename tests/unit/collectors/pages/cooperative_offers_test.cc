#include "collectors/pages/cooperative_offers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>

#include "collectors/pages/tracker_own_probe.h"
#include "tests/unit/collectors/pages/offering.h"

namespace mempulse {
namespace {

using ::testing::HasSubstr;

class CooperativeOffersTest : public testing::Test {
 protected:
  void SetUp() override {
    const TrackerSupport own = ProbeOwnWriteProtect(host_);
    if (!own.supported) GTEST_SKIP() << "writeprotect does not work here: " << own.detail;
  }

  std::unique_ptr<CooperativeOffers> Listen(const OfferLimits& limits = {}) {
    absl::StatusOr<std::unique_ptr<CooperativeOffers>> offers = CooperativeOffers::Open(host_, path_, limits);
    EXPECT_TRUE(offers.ok()) << offers.status();
    return offers.ok() ? *std::move(offers) : nullptr;
  }

  const Host host_;
  const TemporaryFolder folder_;
  const std::string path_ = folder_.File("attach.sock");
};

TEST_F(CooperativeOffersTest, HoldsWhatAProcessOffers) {
  const auto offers = Listen();
  const OfferingChild child(path_);
  const ProcessId id = IdOf(host_, child.pid());
  EXPECT_EQ(offers->Newest(id), 0u);
  EXPECT_THAT(std::string(offers->Take(id).status().message()), HasSubstr("has offered no userfaultfd"));
  child.Offer();
  ASSERT_TRUE(Eventually([&] { return CountOf(*offers, OfferResult::kAccepted) == 1; }));
  EXPECT_EQ(offers->held(), 1u);
  EXPECT_NE(offers->Newest(id), 0u);
  EXPECT_TRUE(offers->Take(id).ok());
  EXPECT_TRUE(offers->Take(id).ok()) << "an offer can be taken again";
  EXPECT_FALSE(offers->Take({id.pid, id.start_time_ticks + 1}).ok()) << "a later process of that number";
  offers->Discard(id);
  EXPECT_FALSE(offers->Take(id).ok());
  EXPECT_EQ(offers->held(), 0u);
}

TEST_F(CooperativeOffersTest, TheLatestOfferOfAProcessCounts) {
  const auto offers = Listen();
  const OfferingChild child(path_);
  const ProcessId id = IdOf(host_, child.pid());
  child.Offer();
  ASSERT_TRUE(Eventually([&] { return offers->Newest(id) != 0; }));
  const uint64_t first = offers->Newest(id);
  child.Offer();
  ASSERT_TRUE(Eventually([&] { return CountOf(*offers, OfferResult::kReplaced) == 1; }));
  EXPECT_NE(offers->Newest(id), first);
  EXPECT_EQ(offers->held(), 1u);
  EXPECT_TRUE(offers->Take(id).ok());
}

TEST_F(CooperativeOffersTest, AnOfferEndsWithTheMemoryItWasFor) {
  const auto offers = Listen();
  OfferingChild child(path_);
  const ProcessId id = IdOf(host_, child.pid());
  child.Offer();
  ASSERT_TRUE(Eventually([&] { return offers->held() == 1; }));
  child.Kill();
  child.Reap();
  EXPECT_TRUE(Eventually([&] { return !offers->Take(id).ok(); }));
}

TEST_F(CooperativeOffersTest, AnExecEndsIt) {
  const auto offers = Listen();
  ChildProcess child(ChildProcess::Preparation([&] {
    if (!OfferOwnMemory(path_)) _exit(1);
    char c = 0;
    if (read(STDIN_FILENO, &c, 1) == 1) execl("/bin/cat", "cat", nullptr);
  }));
  const ProcessId id = IdOf(host_, child.pid());
  ASSERT_TRUE(Eventually([&] { return offers->Newest(id) != 0; }));
  EXPECT_TRUE(offers->Take(id).ok());
  child.WriteLine("");
  child.WriteLine("");
  ASSERT_TRUE(Eventually([&] { return !offers->Take(id).ok(); }));
  EXPECT_THAT(std::string(offers->Take(id).status().message()), HasSubstr("has left the memory"));
  EXPECT_NE(offers->Newest(id), 0u) << "it is the same process";
}

TEST_F(CooperativeOffersTest, CountsWhatIsNoOffer) {
  const auto offers = Listen();
  const absl::StatusOr<UniqueFd> own = CreateUserfaultfd();
  ASSERT_TRUE(own.ok());
  std::string other_version = HonestOffer();
  ++other_version[8];
  int ends[2];
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
  const UniqueFd one(ends[0]);
  const UniqueFd two(ends[1]);

  EXPECT_TRUE(OfferTo(path_, "GET / HTTP/1.0\r\n\r\n", {}));
  EXPECT_TRUE(OfferTo(path_, HonestOffer() + "x", {own->get()}));
  EXPECT_TRUE(OfferTo(path_, HonestOffer().substr(0, 15), {own->get()}));
  EXPECT_TRUE(OfferTo(path_, other_version, {own->get()}));
  EXPECT_TRUE(OfferTo(path_, HonestOffer(), std::vector<int>(200, one.get())));
  EXPECT_TRUE(Eventually([&] { return CountOf(*offers, OfferResult::kGarbage) == 5; }));
  EXPECT_TRUE(OfferTo(path_, HonestOffer(), {}));
  EXPECT_TRUE(OfferTo(path_, HonestOffer(), {own->get(), own->get()}));
  EXPECT_TRUE(Eventually([&] { return CountOf(*offers, OfferResult::kNoDescriptor) == 2; }));
  EXPECT_TRUE(OfferTo(path_, HonestOffer(), {one.get()}));
  EXPECT_TRUE(Eventually([&] { return CountOf(*offers, OfferResult::kNotUserfaultfd) == 1; }));
  EXPECT_TRUE(ConnectTo(path_).valid());
  EXPECT_TRUE(Eventually([&] { return CountOf(*offers, OfferResult::kSilent) == 1; }));
  EXPECT_EQ(offers->held(), 0u);
}

// Somebody has agreed with the kernel on other features, or on the same: we cannot tell which.
TEST_F(CooperativeOffersTest, RefusesADescriptorThatIsInUse) {
  const auto offers = Listen();
  absl::StatusOr<UniqueFd> own = CreateUserfaultfd();
  ASSERT_TRUE(own.ok());
  const int number = own->get();
  const absl::StatusOr<WriteProtection> used = WriteProtection::Negotiate(*std::move(own));
  ASSERT_TRUE(used.ok());
  EXPECT_TRUE(OfferTo(path_, HonestOffer(), {number}));
  EXPECT_TRUE(Eventually([&] { return CountOf(*offers, OfferResult::kKernel) == 1; }));
}

TEST_F(CooperativeOffersTest, SilentConnectionsRunOutOfTime) {
  OfferLimits limits;
  limits.patience = absl::Milliseconds(20);
  const auto offers = Listen(limits);
  const UniqueFd silent = ConnectTo(path_);
  ASSERT_TRUE(silent.valid());
  EXPECT_TRUE(Eventually([&] { return CountOf(*offers, OfferResult::kSilent) == 1; }));
  char c = 0;
  EXPECT_EQ(read(silent.get(), &c, 1), 0) << "it is closed at our end";
}

TEST_F(CooperativeOffersTest, AFloodIsBoundedAndKeepsNobodyOut) {
  OfferLimits limits;
  limits.waiting = 4;
  limits.patience = absl::Minutes(5);
  const auto offers = Listen(limits);
  std::vector<UniqueFd> flood(300);
  for (UniqueFd& connection : flood) connection = ConnectTo(path_);
  const OfferingChild child(path_);
  child.Offer();
  EXPECT_TRUE(Eventually([&] { return CountOf(*offers, OfferResult::kAccepted) == 1; }));
  EXPECT_TRUE(Eventually([&] { return CountOf(*offers, OfferResult::kTooMany) == 296; }));
}

TEST_F(CooperativeOffersTest, HoldsNoMoreThanItsLimit) {
  OfferLimits limits;
  limits.offers = 2;
  const auto offers = Listen(limits);
  OfferingChild first(path_);
  const OfferingChild second(path_);
  const OfferingChild third(path_);
  first.Offer();
  second.Offer();
  ASSERT_TRUE(Eventually([&] { return offers->held() == 2; }));
  third.Offer();
  EXPECT_TRUE(Eventually([&] { return CountOf(*offers, OfferResult::kTooMany) == 1; }));
  first.Kill();
  first.Reap();
  third.Offer();
  EXPECT_TRUE(Eventually([&] { return CountOf(*offers, OfferResult::kAccepted) == 3; }));
  EXPECT_EQ(offers->held(), 2u);
}

TEST_F(CooperativeOffersTest, OtherUsersAreForRootOnly) {
  if (geteuid() != 0) GTEST_SKIP() << "takes root to be another user";
  const auto offers = Listen();
  chmod(path_.substr(0, path_.find_last_of('/')).c_str(), 0755);
  const OfferingChild child(path_, BecomeNobody);
  child.Offer();
  EXPECT_TRUE(Eventually([&] { return CountOf(*offers, OfferResult::kAccepted) == 1; }));
}

TEST(OfferSocketTest, TellsWhatIsWrongWithThePath) {
  const TemporaryFolder folder;
  const absl::StatusOr<OfferSocket> no_folder = OfferSocket::Listen(folder.File("none/attach.sock"));
  EXPECT_TRUE(absl::IsNotFound(no_folder.status()));
  EXPECT_THAT(std::string(no_folder.status().message()), HasSubstr("/none does not exist; create it"));
  const std::string file = folder.File("file");
  std::ofstream(file) << "kept";
  EXPECT_TRUE(absl::IsAlreadyExists(OfferSocket::Listen(file).status()));
  EXPECT_TRUE(std::filesystem::exists(file));
  EXPECT_FALSE(OfferSocket::Listen(folder.File(std::string(200, 'x'))).ok());
}

TEST(OfferSocketTest, ReplacesOnlyWhatNobodyListensOn) {
  const TemporaryFolder folder;
  const std::string path = folder.File("attach.sock");
  {
    const absl::StatusOr<OfferSocket> listening = OfferSocket::Listen(path);
    ASSERT_TRUE(listening.ok()) << listening.status();
    EXPECT_TRUE(absl::IsAlreadyExists(OfferSocket::Listen(path).status()));
    EXPECT_TRUE(ConnectTo(path).valid());
  }
  EXPECT_FALSE(std::filesystem::exists(path)) << "it takes its file away";
  const UniqueFd stale(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  strncpy(address.sun_path, path.c_str(), sizeof(address.sun_path) - 1);
  ASSERT_EQ(bind(stale.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
  const absl::StatusOr<OfferSocket> again = OfferSocket::Listen(path);
  ASSERT_TRUE(again.ok()) << again.status();
  struct stat file {};
  ASSERT_EQ(stat(path.c_str(), &file), 0);
  EXPECT_EQ(file.st_mode & 0777, geteuid() == 0 ? 0666u : 0600u);
}

}  // namespace
}  // namespace mempulse
