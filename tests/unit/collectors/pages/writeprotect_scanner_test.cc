#include "collectors/pages/writeprotect_scanner.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <optional>

#include "collectors/pages/pagemap.h"
#include "collectors/pages/userfaultfd.h"

namespace mempulse {
namespace {

using Pages = std::vector<PageRange>;

// Memory of this process under its own userfaultfd.
class WrittenScannerTest : public testing::TestWithParam<uint64_t> {
 protected:
  void SetUp() override {
    absl::StatusOr<UniqueFd> fd = CreateUserfaultfd();
    if (!fd.ok()) GTEST_SKIP() << fd.status();
    absl::StatusOr<WriteProtection> protection = WriteProtection::Negotiate(*std::move(fd));
    if (!protection.ok()) GTEST_SKIP() << protection.status();
    protection_ = *std::move(protection);
    absl::StatusOr<Pagemap> pagemap = Pagemap::Open(Host(), getpid());
    ASSERT_TRUE(pagemap.ok()) << pagemap.status();
    pagemap_ = *std::move(pagemap);
    const uint64_t bytes = GetParam() * kPageSize;
    memory_ =
        static_cast<char*>(mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    madvise(memory_, bytes, MADV_NOHUGEPAGE);
    range_ = {reinterpret_cast<uint64_t>(memory_), reinterpret_cast<uint64_t>(memory_) + bytes};
    for (uint64_t i = 0; i < GetParam(); ++i) Write(i);
    ASSERT_EQ(protection_->Register(range_), 0);
    scanner_.emplace(pagemap_->fd());
  }
  void TearDown() override {
    if (memory_ != nullptr) munmap(memory_, GetParam() * kPageSize);
  }

  void Write(uint64_t page) { memory_[page * kPageSize] = 1; }
  // Numbers of pages from the start of the memory.
  Pages Scan(bool reset) {
    Pages written;
    const ScanRange wanted{range_, false};
    EXPECT_TRUE(scanner_->Scan({&wanted, 1}, reset, &written).ok());
    for (PageRange& range : written) {
      range = {(range.start - range_.start) / kPageSize, (range.end - range_.start) / kPageSize};
    }
    return written;
  }

  std::optional<WriteProtection> protection_;
  std::optional<Pagemap> pagemap_;
  std::optional<WrittenScanner> scanner_;
  char* memory_ = nullptr;
  PageRange range_;
};

TEST_P(WrittenScannerTest, ReportsWhatWasWrittenSinceTheReset) {
  EXPECT_EQ(Scan(true), (Pages{{0, GetParam()}}));
  EXPECT_EQ(Scan(true), Pages{});
  Write(3);
  Write(4);
  Write(9);
  EXPECT_EQ(Scan(true), (Pages{{3, 5}, {9, 10}}));
  EXPECT_EQ(Scan(true), Pages{});
}

TEST_P(WrittenScannerTest, LookAloneLeavesTheAnswerStanding) {
  Scan(true);
  Write(7);
  EXPECT_EQ(Scan(false), (Pages{{7, 8}}));
  EXPECT_EQ(Scan(false), (Pages{{7, 8}}));
  EXPECT_EQ(Scan(true), (Pages{{7, 8}}));
  EXPECT_EQ(Scan(false), Pages{});
}

TEST_P(WrittenScannerTest, ResetAloneForgets) {
  const ScanRange wanted{range_, false};
  ASSERT_TRUE(scanner_->Scan({&wanted, 1}, true, nullptr).ok());
  EXPECT_EQ(Scan(true), Pages{});
  Write(1);
  ASSERT_TRUE(scanner_->Scan({&wanted, 1}, true, nullptr).ok());
  EXPECT_EQ(Scan(true), Pages{});
}

TEST_P(WrittenScannerTest, DiscardedPagesAreNotWritten) {
  Scan(true);
  madvise(memory_ + 2 * kPageSize, 4 * kPageSize, MADV_DONTNEED);
  EXPECT_EQ(Scan(true), Pages{});
  EXPECT_EQ(memory_[3 * kPageSize], 0);
  EXPECT_EQ(Scan(true), Pages{}) << "the read brought in the page of zeros";
  Write(3);
  EXPECT_EQ(Scan(true), (Pages{{3, 4}}));
}

TEST_P(WrittenScannerTest, MoreRunsThanOneCallHolds) {
  Scan(true);
  Pages expected;
  for (uint64_t i = 0; i + 1 < GetParam(); i += 2) {
    Write(i);
    expected.push_back({i, i + 1});
  }
  EXPECT_EQ(Scan(true), expected);
}

TEST_P(WrittenScannerTest, UnregisteredMemoryIsAFailedPrecondition) {
  ASSERT_EQ(protection_->Unregister(range_), 0);
  Pages written;
  const ScanRange wanted{range_, false};
  EXPECT_TRUE(absl::IsFailedPrecondition(scanner_->Scan({&wanted, 1}, true, &written).status()));
}

TEST_P(WrittenScannerTest, UnmappedMemoryCountsAsUnwritten) {
  munmap(memory_, GetParam() * kPageSize);
  memory_ = nullptr;
  EXPECT_EQ(Scan(true), Pages{});
}

// Exact mask; fast path; more than one piece, and more runs than the buffer holds.
INSTANTIATE_TEST_SUITE_P(Sizes, WrittenScannerTest, testing::Values(64, 4096, 70'000));

}  // namespace
}  // namespace mempulse
