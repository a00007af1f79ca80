#include "exporter/files/whole_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>

namespace mempulse {
namespace {

using testing::HasSubstr;

// What happens to the n-th system call of a save.
enum class Fault { kNoSpace, kReadOnly, kKilled };

FileCalls Faulty(int nth, Fault fault, int* count) {
  const FileCalls real = SystemFileCalls();
  const auto strikes = [=] {
    if (++*count != nth) return false;
    if (fault == Fault::kKilled) _exit(9);
    errno = fault == Fault::kNoSpace ? ENOSPC : EROFS;
    return true;
  };
  FileCalls calls;
  calls.open = [=](const char* path, int flags, unsigned mode) {
    return strikes() ? -1 : real.open(path, flags, mode);
  };
  // Short writes, so that a save takes several of them.
  calls.write = [=](int fd, const void* bytes, size_t size) {
    return strikes() ? -1 : real.write(fd, bytes, std::min<size_t>(size, 1000));
  };
  calls.fsync = [=](int fd) { return strikes() ? -1 : real.fsync(fd); };
  calls.close = [=](int fd) {
    const bool struck = strikes();
    const int result = real.close(fd);
    return struck ? -1 : result;
  };
  calls.rename = [=](const char* from, const char* to) { return strikes() ? -1 : real.rename(from, to); };
  calls.unlink = [=](const char* path) { return strikes() ? -1 : real.unlink(path); };
  return calls;
}

class WholeFileTest : public testing::Test {
 protected:
  WholeFileTest() {
    char name[] = "/tmp/mempulse-whole-XXXXXX";
    folder_ = mkdtemp(name);
    path_ = folder_ + "/state";
  }
  ~WholeFileTest() override { std::filesystem::remove_all(folder_); }

  // What a reader finds after a crash: the last generation that is there as a whole.
  std::string Found() const {
    for (const std::string& path : {path_, path_ + ".previous"}) {
      absl::StatusOr<std::string> bytes = ReadWholeFile(path, 1 << 20);
      if (bytes.ok()) return *bytes;
    }
    return "";
  }
  absl::Status Save(const std::string& bytes) { return SaveWholeFile(SystemFileCalls(), path_, bytes); }
  int CallsOfASave() {
    int count = 0;
    EXPECT_TRUE(SaveWholeFile(Faulty(0, Fault::kNoSpace, &count), path_, New()).ok());
    return count;
  }
  static std::string Old() { return std::string(3500, 'o'); }
  static std::string New() { return std::string(3500, 'n'); }

  std::string folder_;
  std::string path_;
};

TEST_F(WholeFileTest, KeepsTheGenerationBefore) {
  ASSERT_TRUE(Save("one").ok());
  ASSERT_TRUE(Save("two").ok());
  EXPECT_EQ(*ReadWholeFile(path_, 10), "two");
  EXPECT_EQ(*ReadWholeFile(path_ + ".previous", 10), "one");
  EXPECT_FALSE(std::filesystem::exists(path_ + ".new"));
}

TEST_F(WholeFileTest, EveryFailingCallLeavesASavedGeneration) {
  const int calls = CallsOfASave();
  EXPECT_GE(calls, 10);
  for (const Fault fault : {Fault::kNoSpace, Fault::kReadOnly}) {
    for (int nth = 1; nth <= calls; ++nth) {
      ASSERT_TRUE(Save(Old()).ok());
      int count = 0;
      const absl::Status status = SaveWholeFile(Faulty(nth, fault, &count), path_, New());
      EXPECT_TRUE(Found() == Old() || Found() == New()) << "call " << nth;
      if (status.ok()) {
        EXPECT_EQ(Found(), New()) << "call " << nth;
      } else {
        EXPECT_THAT(std::string(status.message()), HasSubstr(folder_)) << "call " << nth;
      }
    }
  }
}

TEST_F(WholeFileTest, KilledAtEveryCallASavedGenerationIsThere) {
  const int calls = CallsOfASave();
  for (int nth = 1; nth <= calls; ++nth) {
    ASSERT_TRUE(Save(Old()).ok());
    const pid_t child = fork();
    if (child == 0) {
      int count = 0;
      const absl::Status status = SaveWholeFile(Faulty(nth, Fault::kKilled, &count), path_, New());
      _exit(status.ok() ? 0 : 1);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(WEXITSTATUS(status), 9) << "call " << nth;
    EXPECT_TRUE(Found() == Old() || Found() == New()) << "call " << nth << ": " << Found().size() << " bytes";
    // And the next save works.
    ASSERT_TRUE(Save(New()).ok());
    EXPECT_EQ(Found(), New());
  }
}

TEST_F(WholeFileTest, AFolderThatIsNotThere) {
  const absl::Status status = SaveWholeFile(SystemFileCalls(), folder_ + "/none/state", "x");
  EXPECT_FALSE(status.ok());
  EXPECT_THAT(std::string(status.message()), HasSubstr("/none/state"));
}

TEST_F(WholeFileTest, ReadsRegularFilesOfABoundedSizeOnly) {
  EXPECT_TRUE(absl::IsNotFound(ReadWholeFile(path_, 10).status()));
  ASSERT_TRUE(Save("0123456789").ok());
  EXPECT_TRUE(ReadWholeFile(path_, 10).ok());
  EXPECT_TRUE(absl::IsInvalidArgument(ReadWholeFile(path_, 9).status()));
  EXPECT_FALSE(ReadWholeFile(folder_, 10).ok());
  ASSERT_EQ(symlink(path_.c_str(), (folder_ + "/link").c_str()), 0);
  EXPECT_FALSE(ReadWholeFile(folder_ + "/link", 10).ok());
  ASSERT_EQ(mkfifo((folder_ + "/fifo").c_str(), 0600), 0);
  EXPECT_FALSE(ReadWholeFile(folder_ + "/fifo", 10).ok()) << "and does not wait for a writer";
}

}  // namespace
}  // namespace mempulse
