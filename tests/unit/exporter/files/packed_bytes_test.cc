#include "exporter/files/packed_bytes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/status/status.h"

namespace mempulse {
namespace {

using testing::HasSubstr;

constexpr FileForm kForm = {"MPTEST", 3, 1 << 16, "test", "do it again"};

std::string Problem(absl::string_view bytes) {
  return std::string(UnpackBytes(kForm, bytes).status().message());
}

TEST(PackedBytesTest, GivesBackWhatItWasGiven) {
  for (const std::string& payload : {std::string(), std::string("a"), std::string(60'000, 'x')}) {
    const absl::StatusOr<std::string> unpacked = UnpackBytes(kForm, PackBytes(kForm, payload));
    ASSERT_TRUE(unpacked.ok()) << unpacked.status();
    EXPECT_EQ(*unpacked, payload);
  }
}

TEST(PackedBytesTest, EverySingleBitAndEveryLengthCounts) {
  const std::string bytes = PackBytes(kForm, "what is normal for this service");
  for (size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    std::string flipped = bytes;
    flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << (bit % 8)));
    EXPECT_FALSE(UnpackBytes(kForm, flipped).ok()) << "bit " << bit;
  }
  for (size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_FALSE(UnpackBytes(kForm, bytes.substr(0, size)).ok()) << size << " bytes";
  }
  EXPECT_FALSE(UnpackBytes(kForm, bytes + '\0').ok());
}

TEST(PackedBytesTest, SaysWhatIsWrong) {
  EXPECT_THAT(Problem("something else"), HasSubstr("this is not a mempulse test"));
  EXPECT_THAT(Problem("MPTEST"), HasSubstr("cut off"));
  FileForm newer = kForm;
  newer.version = 4;
  EXPECT_THAT(Problem(PackBytes(newer, "x")),
              HasSubstr("format version 4; this program reads version 3: do it again"));
  FileForm larger = kForm;
  larger.largest_payload = 1 << 20;
  EXPECT_THAT(Problem(PackBytes(larger, std::string((1 << 16) + 1, 'x'))),
              HasSubstr("unpacks to 65537 bytes"));
}

}  // namespace
}  // namespace mempulse
