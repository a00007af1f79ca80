#pragma once

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "collectors/host/unique_fd.h"
#include "collectors/pages/cooperative_offers.h"
#include "collectors/pages/userfaultfd.h"
#include "collectors/targets/process_stat.h"
#include "preload/attach_offer.h"
#include "tests/unit/collectors/targets/child_process.h"

// The client's side of the offer socket, honest and other.
namespace mempulse {

class TemporaryFolder {
 public:
  TemporaryFolder() : path_(testing::TempDir() + "mempulse_offers_XXXXXX") {
    if (mkdtemp(path_.data()) == nullptr) abort();
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder() { std::filesystem::remove_all(path_); }

  std::string File(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

inline UniqueFd ConnectTo(const std::string& path) {
  UniqueFd fd(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  strncpy(address.sun_path, path.c_str(), sizeof(address.sun_path) - 1);
  if (connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0) fd.Reset();
  return fd;
}

inline std::string HonestOffer() {
  const MempulseOffer offer = {
      {'m', 'e', 'm', 'p', 'u', 'l', 's', 'e'}, MEMPULSE_OFFER_VERSION, kMempulseOfferAtStart};
  return std::string(reinterpret_cast<const char*>(&offer), sizeof(offer));
}

inline bool SendTo(int connection, std::string text, const std::vector<int>& descriptors) {
  std::vector<char> control(CMSG_SPACE(descriptors.size() * sizeof(int)) + sizeof(cmsghdr));
  iovec part{text.data(), text.size()};
  msghdr header{};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  if (!descriptors.empty()) {
    header.msg_control = control.data();
    header.msg_controllen = CMSG_SPACE(descriptors.size() * sizeof(int));
    cmsghdr* const head = CMSG_FIRSTHDR(&header);
    head->cmsg_level = SOL_SOCKET;
    head->cmsg_type = SCM_RIGHTS;
    head->cmsg_len = CMSG_LEN(descriptors.size() * sizeof(int));
    memcpy(CMSG_DATA(head), descriptors.data(), descriptors.size() * sizeof(int));
  }
  return sendmsg(connection, &header, MSG_NOSIGNAL) == static_cast<ssize_t>(text.size());
}

// Connects, says it all, and hangs up, as the preload library does.
inline bool OfferTo(const std::string& path, const std::string& text, const std::vector<int>& descriptors) {
  const UniqueFd connection = ConnectTo(path);
  return connection.valid() && SendTo(connection.get(), text, descriptors);
}

inline bool OfferOwnMemory(const std::string& path) {
  const absl::StatusOr<UniqueFd> own = CreateUserfaultfd();
  return own.ok() && OfferTo(path, HonestOffer(), {own->get()});
}

// Polls, since the listener has a thread of its own; false after twenty seconds.
inline bool Eventually(const std::function<bool()>& condition) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (!condition()) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return true;
}

inline uint64_t CountOf(const CooperativeOffers& offers, OfferResult result) {
  return offers.results()[static_cast<size_t>(result)];
}

inline ProcessId IdOf(const Host& host, pid_t pid) {
  const absl::StatusOr<ProcessStat> stat = ReadProcessStat(host, pid);
  return stat.ok() ? stat->id : ProcessId{};
}

// A child that says "ready", then offers its memory for each line it gets and says "offered".
class OfferingChild : public ChildProcess {
 public:
  explicit OfferingChild(
      const std::string& path, const Preparation& first = [] {})
      : ChildProcess(Preparation([path, first] {
          first();
          Say("ready\n");
          char c = 0;
          while (read(STDIN_FILENO, &c, 1) == 1) {
            if (c == '\n') Say(OfferOwnMemory(path) ? "offered\n" : "refused\n");
          }
        })) {
    EXPECT_EQ(ReadLine(), "ready");
  }

  void Offer() const {
    WriteLine("");
    EXPECT_EQ(ReadLine(), "offered");
  }

 private:
  static void Say(const std::string& text) {
    if (write(STDOUT_FILENO, text.data(), text.size()) < 0) _exit(1);
  }
};

}  // namespace mempulse
