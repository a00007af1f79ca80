#include "collectors/host/errno_status.h"

#include <gtest/gtest.h>

namespace mempulse {
namespace {

TEST(ErrnoStatusTest, SortsErrnoIntoGoneCannotAndFailed) {
  EXPECT_EQ(ErrnoStatus("open", "/x", ESRCH).code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(ErrnoStatus("open", "/x", ENOENT).code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(ErrnoStatus("open", "/x", EPERM).code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(ErrnoStatus("ioctl", "/x", ENOTTY).code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(ErrnoStatus("open", "/x", EMFILE).code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(ErrnoStatus("read", "/x", EIO).code(), absl::StatusCode::kInternal);
}

TEST(ErrnoStatusTest, NamesOperationSubjectAndError) {
  EXPECT_EQ(ErrnoStatus("open", "/proc/1/mem", EACCES).message(),
            "open /proc/1/mem: Permission denied (EACCES)");
}

TEST(ErrnoStatusTest, ReadsErrnoByDefault) {
  errno = ESRCH;
  EXPECT_EQ(ErrnoStatus("kill", "9").message(), "kill 9: No such process (ESRCH)");
}

}  // namespace
}  // namespace mempulse
