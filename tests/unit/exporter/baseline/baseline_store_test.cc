#include "exporter/baseline/baseline_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "exporter/baseline/baseline_codec.h"
#include "tests/unit/exporter/baseline/made_baseline.h"

namespace mempulse {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class BaselineStoreTest : public testing::Test {
 protected:
  BaselineStoreTest() {
    char name[] = "/tmp/mempulse-store-XXXXXX";
    folder_ = mkdtemp(name);
  }
  ~BaselineStoreTest() override { std::filesystem::remove_all(folder_); }

  void Write(const std::string& path, const std::string& bytes) {
    std::ofstream(path, std::ios::binary) << bytes;
  }

  std::string folder_;
  Baseline two_ = MadeBaseline(2, 50);
  Baseline three_ = MadeBaseline(3, 50);
};

TEST_F(BaselineStoreTest, NothingWasSaved) {
  BaselineStore store(folder_);
  const BaselineStore::Loaded loaded = store.Load("shop", "aa");
  EXPECT_FALSE(loaded.baseline.has_value());
  EXPECT_THAT(loaded.problems, IsEmpty());
}

TEST_F(BaselineStoreTest, SavedAndLoadedByGroupAndBuild) {
  BaselineStore store(folder_);
  ASSERT_TRUE(store.Save(two_).ok());
  ASSERT_TRUE(store.Save(three_).ok());
  const BaselineStore::Loaded loaded = store.Load("shop", three_.build_id);
  ASSERT_TRUE(loaded.baseline.has_value());
  EXPECT_EQ(loaded.baseline->runs.size(), 3u);
  EXPECT_FALSE(store.Load("cache", three_.build_id).baseline.has_value());
  EXPECT_FALSE(store.Load("shop", "another").baseline.has_value());
}

TEST_F(BaselineStoreTest, ADamagedFileIsSetAsideAndTheGenerationBeforeIsUsed) {
  BaselineStore store(folder_);
  ASSERT_TRUE(store.Save(two_).ok());
  ASSERT_TRUE(store.Save(three_).ok());
  const std::string path = store.PathOf("shop", two_.build_id);
  std::string bytes = EncodeBaseline(three_);
  bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 1);
  Write(path, bytes);
  const BaselineStore::Loaded loaded = store.Load("shop", two_.build_id);
  ASSERT_TRUE(loaded.baseline.has_value());
  EXPECT_EQ(loaded.baseline->runs.size(), 2u);
  EXPECT_EQ(loaded.set_aside, 1);
  EXPECT_THAT(loaded.problems, ElementsAre(HasSubstr("checksum")));
  EXPECT_TRUE(std::filesystem::exists(path + ".damaged"));
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST_F(BaselineStoreTest, AnotherVersionOrAnotherGroupIsNotTaken) {
  BaselineStore store(folder_);
  std::string bytes = EncodeBaseline(two_);
  bytes[6] = 9;
  Write(store.PathOf("shop", two_.build_id), bytes);
  EXPECT_THAT(store.Load("shop", two_.build_id).problems, ElementsAre(HasSubstr("format version 9")));
  Write(store.PathOf("cache", two_.build_id), EncodeBaseline(two_));
  EXPECT_THAT(store.Load("cache", two_.build_id).problems, ElementsAre(HasSubstr("group shop")));
}

TEST_F(BaselineStoreTest, ABuildIdNeverLeavesTheFolder) {
  BaselineStore store(folder_);
  EXPECT_EQ(store.PathOf("shop", "../../etc/passwd"), folder_ + "/shop.______etc_passwd.baseline");
  EXPECT_EQ(store.PathOf("shop", ""), folder_ + "/shop.nobuild.baseline");
}

TEST_F(BaselineStoreTest, AFolderThatCannotBeWrittenIsSaid) {
  BaselineStore store(folder_ + "/none");
  const absl::Status status = store.Save(two_);
  EXPECT_FALSE(status.ok());
  EXPECT_THAT(std::string(status.message()), HasSubstr("/none/shop."));
}

}  // namespace
}  // namespace mempulse
