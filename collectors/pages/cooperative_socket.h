#pragma once

#include <sys/types.h>

#include <string>

#include "absl/status/statusor.h"
#include "collectors/host/unique_fd.h"

namespace mempulse {

// A listening SOCK_SEQPACKET Unix socket at a path; removes its file when it ends. Move-only; not
// thread-safe.
class OfferSocket {
 public:
  // A socket file that nobody listens on (an exporter that was killed) is replaced; anything else at the path
  // is left alone: AlreadyExists when somebody listens there or it is no socket. NotFound: the folder does
  // not exist, it is not created. The mode is 0666 for root, whose peers may be anybody, and 0600 for others,
  // whose peers are their own user.
  static absl::StatusOr<OfferSocket> Listen(const std::string& path);

  OfferSocket(OfferSocket&&) = default;
  OfferSocket& operator=(OfferSocket&&) = delete;
  ~OfferSocket();

  int fd() const { return fd_.get(); }

 private:
  OfferSocket(std::string path, UniqueFd fd, dev_t device, ino_t inode)
      : path_(std::move(path)), fd_(std::move(fd)), device_(device), inode_(inode) {}

  std::string path_;
  UniqueFd fd_;
  dev_t device_;
  ino_t inode_;
};

}  // namespace mempulse
