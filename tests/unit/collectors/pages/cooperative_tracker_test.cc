#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/match.h"
#include "collectors/pages/cooperative_decision.h"
#include "collectors/pages/cooperative_proof.h"
#include "collectors/pages/tracker_own_probe.h"
#include "collectors/pages/tracker_probe.h"
#include "collectors/pages/writeprotect_tracker.h"
#include "collectors/targets/process_facts.h"
#include "tests/unit/collectors/pages/access_situations.h"
#include "tests/unit/collectors/pages/offering.h"

// From an offer to a tracker: what decides, what is proven, and what is left behind.
namespace mempulse {
namespace {

using ::testing::HasSubstr;

const TrackerSupport kWorksHere = {TrackerKind::kWriteProtect, true, "ok", "", ""};

TEST(DecideCooperativeTest, NeedsNoPermissionToTrace) {
  for (const TargetAccess& access : {SameUserNoCapabilities(), Yama(1), Yama(2), Yama(3), DefaultSeccomp()}) {
    EXPECT_EQ(DecideCooperative(kWorksHere, access, absl::OkStatus()).reason, "ok");
  }
}

TEST(DecideCooperativeTest, TellsHowToOffer) {
  const absl::Status none = absl::UnavailableError("the target has offered nothing");
  const TrackerSupport plain = DecideCooperative(kWorksHere, Yama(1), none);
  EXPECT_FALSE(plain.supported);
  EXPECT_EQ(plain.reason, "no_offer");
  EXPECT_THAT(plain.remedy, HasSubstr("LD_PRELOAD"));
  EXPECT_THAT(DecideCooperative(kWorksHere, DefaultSeccomp(), none).remedy,
              HasSubstr("MEMPULSE_ATTACH_UNDER_SECCOMP=1"));
}

TEST(DecideCooperativeTest, WhatElseStandsInTheWayComesFirst) {
  const absl::Status none = absl::UnavailableError("none");
  EXPECT_EQ(DecideCooperative(kWorksHere, OtherUserNoCapabilities(), none).reason, "other_user");
  EXPECT_EQ(DecideCooperative(kWorksHere, NotDumpable(), none).reason, "not_dumpable");
  TrackerSupport old_kernel = kWorksHere;
  old_kernel.supported = false;
  old_kernel.reason = "kernel";
  EXPECT_EQ(DecideCooperative(old_kernel, Yama(1), absl::OkStatus()).reason, "kernel");
  TargetAccess gone = Yama(1);
  gone.gone = true;
  EXPECT_EQ(DecideCooperative(kWorksHere, gone, none).reason, "target_gone");
  EXPECT_EQ(OfferStatus(nullptr, {}).code(), absl::StatusCode::kUnavailable);
}

class CooperativeTrackerTest : public testing::Test {
 protected:
  void SetUp() override {
    const TrackerSupport own = ProbeOwnWriteProtect(host_);
    if (!own.supported) GTEST_SKIP() << "writeprotect does not work here: " << own.detail;
    absl::StatusOr<std::unique_ptr<CooperativeOffers>> offers = CooperativeOffers::Open(host_, path_);
    ASSERT_TRUE(offers.ok()) << offers.status();
    offers_ = *std::move(offers);
  }

  absl::StatusOr<Target> TargetOf(pid_t pid) {
    absl::StatusOr<ProcessFacts> facts = ReadProcessFacts(host_, pid);
    if (!facts.ok()) return facts.status();
    return Target::Open(host_, *std::move(facts));
  }

  void AwaitOffer(const OfferingChild& child) {
    const uint64_t before = offers_->Newest(IdOf(host_, child.pid()));
    child.Offer();
    ASSERT_TRUE(Eventually([&] { return offers_->Newest(IdOf(host_, child.pid())) != before; }));
  }

  std::vector<Mapping> MappingsOf(pid_t pid) {
    bool truncated = false;
    return ReadMappings(host_, pid, &truncated).value_or(std::vector<Mapping>{});
  }

  bool HasProtectedMapping(pid_t pid) {
    const absl::StatusOr<std::string> smaps = host_.ReadProcFile(pid, "smaps", 64 << 20);
    return smaps.ok() && absl::StrContains(*smaps, " uw");
  }

  absl::StatusOr<ChosenTracker> Open(const Target& target) {
    return OpenTracker(host_, target, {ProbeOwnWriteProtect(host_)}, TrackerChoice::kWriteProtect,
                       AttachTerms{AttachChoice::kCooperative, offers_.get()});
  }

  const Host host_;
  const TemporaryFolder folder_;
  const std::string path_ = folder_.File("attach.sock");
  std::unique_ptr<CooperativeOffers> offers_;
};

TEST_F(CooperativeTrackerTest, TracksAndLeavesNothingBehind) {
  char* const page = static_cast<char*>(
      mmap(nullptr, kPageSize, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  ASSERT_NE(page, MAP_FAILED);
  *page = 1;
  const OfferingChild child(path_);
  const absl::StatusOr<Target> target = TargetOf(child.pid());
  ASSERT_TRUE(target.ok()) << target.status();
  EXPECT_EQ(Open(*target)->support[0].reason, "no_offer");
  AwaitOffer(child);
  for (int round = 0; round < 3; ++round) {  // the same offer, again and again
    absl::StatusOr<ChosenTracker> chosen = Open(*target);
    ASSERT_TRUE(chosen.ok()) << chosen.status();
    ASSERT_NE(chosen->tracker, nullptr) << chosen->support[0].detail;
    const absl::StatusOr<Coverage> coverage = chosen->tracker->Cover(MappingsOf(child.pid()), {});
    ASSERT_TRUE(coverage.ok()) << coverage.status();
    ASSERT_GT(coverage->pages, 0u);
    EXPECT_TRUE(HasProtectedMapping(child.pid()));
    ASSERT_TRUE(chosen->tracker->Reset(coverage->ranges).ok());
    child.WriteLine("");  // it works, so it writes to its memory
    EXPECT_EQ(child.ReadLine(), "offered");
    std::vector<PageRange> written;
    ASSERT_TRUE(chosen->tracker->Look(coverage->ranges, &written).ok());
    EXPECT_FALSE(written.empty());
    EXPECT_EQ(chosen->tracker->effect().stops, 0u);
    chosen->tracker.reset();
    EXPECT_FALSE(HasProtectedMapping(child.pid()));
  }
  munmap(page, kPageSize);
}

TEST_F(CooperativeTrackerTest, AStrangersMemoryIsRefused) {
  const OfferingChild victim(path_);
  const OfferingChild liar(path_);
  AwaitOffer(victim);
  AwaitOffer(liar);
  const absl::StatusOr<WriteProtection> of_victim = offers_->Take(IdOf(host_, victim.pid()));
  ASSERT_TRUE(of_victim.ok());
  const absl::StatusOr<Pagemap> own = Pagemap::Open(host_, victim.pid());
  const absl::StatusOr<Pagemap> other = Pagemap::Open(host_, liar.pid());
  ASSERT_TRUE(own.ok() && other.ok());
  EXPECT_TRUE(CheckOwnMemory(*of_victim, *own, MappingsOf(victim.pid())).ok());
  const absl::Status refused = CheckOwnMemory(*of_victim, *other, MappingsOf(liar.pid()));
  EXPECT_THAT(std::string(refused.message()), HasSubstr("foreign_memory: "));
  EXPECT_FALSE(HasProtectedMapping(victim.pid()));
  EXPECT_FALSE(HasProtectedMapping(liar.pid()));
}

// A child that inherited its parent's userfaultfd passes it as its own.
TEST_F(CooperativeTrackerTest, AnInheritedDescriptorIsForeign) {
  const absl::StatusOr<UniqueFd> parents = CreateUserfaultfd();
  ASSERT_TRUE(parents.ok());
  const ChildProcess child(ChildProcess::Preparation([&] {
    if (!OfferTo(path_, HonestOffer(), {parents->get()})) _exit(1);
    char c = 0;
    if (read(STDIN_FILENO, &c, 1) == 1) _exit(0);
  }));
  ASSERT_TRUE(Eventually([&] { return offers_->Newest(IdOf(host_, child.pid())) != 0; }));
  const absl::StatusOr<Target> target = TargetOf(child.pid());
  ASSERT_TRUE(target.ok());
  const absl::StatusOr<ChosenTracker> chosen = Open(*target);
  ASSERT_TRUE(chosen.ok()) << chosen.status();
  EXPECT_EQ(chosen->tracker, nullptr);
  EXPECT_EQ(chosen->support[0].reason, "foreign_memory");
  EXPECT_EQ(offers_->held(), 0u) << "it is not tried again";
  EXPECT_FALSE(HasProtectedMapping(getpid()));
}

TEST_F(CooperativeTrackerTest, AnotherTrackersMemoryIsNotTakenOver) {
  const OfferingChild child(path_);
  AwaitOffer(child);
  const absl::StatusOr<Target> target = TargetOf(child.pid());
  ASSERT_TRUE(target.ok());
  absl::StatusOr<ChosenTracker> first = Open(*target);
  ASSERT_TRUE(first.ok() && first->tracker != nullptr);
  ASSERT_TRUE(first->tracker->Cover(MappingsOf(child.pid()), {}).ok());
  child.Offer();  // a second userfaultfd, while the first has the memory
  ASSERT_TRUE(Eventually([&] { return CountOf(*offers_, OfferResult::kReplaced) == 1; }));
  const absl::StatusOr<WriteProtection> second = offers_->Take(target->facts().id);
  ASSERT_TRUE(second.ok());
  const absl::StatusOr<Pagemap> pagemap = Pagemap::Open(host_, child.pid());
  ASSERT_TRUE(pagemap.ok());
  std::vector<Mapping> registered;
  for (const Mapping& mapping : MappingsOf(child.pid())) {
    if (mapping.kind == RegionKind::kStack) registered.push_back(mapping);
  }
  EXPECT_THAT(std::string(CheckOwnMemory(*second, *pagemap, registered).message()),
              HasSubstr("foreign_tracker: "));
}

}  // namespace
}  // namespace mempulse
