#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "collectors/host/kernel_facts.h"
#include "collectors/host/unique_fd.h"
#include "collectors/pages/cooperative_message.h"
#include "collectors/pages/userfaultfd.h"

// The preload library inside of a real program (attach_subject), with this test as the exporter.
namespace mempulse {
namespace {

using ::testing::SizeIs;

class AttachLibraryTest : public testing::Test {
 protected:
  AttachLibraryTest() : folder_(testing::TempDir() + "mempulse_attach_XXXXXX") {
    if (mkdtemp(folder_.data()) == nullptr) abort();
    chmod(folder_.c_str(), 0755);
    address_.sun_family = AF_UNIX;
    strncpy(address_.sun_path, (folder_ + "/s").c_str(), sizeof(address_.sun_path) - 1);
  }
  void SetUp() override {
    const absl::StatusOr<ProcessSecurity> own = ReadProcessSecurity(Host(), 0);
    if (!own.ok() || own->seccomp_mode != 0)
      GTEST_SKIP() << "under a seccomp filter the library offers nothing";
    const absl::StatusOr<UniqueFd> possible = CreateUserfaultfd();
    if (!possible.ok()) GTEST_SKIP() << possible.status();
  }
  ~AttachLibraryTest() override { std::filesystem::remove_all(folder_); }

  void Bind() {
    socket_.Reset(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    ASSERT_EQ(bind(socket_.get(), reinterpret_cast<const sockaddr*>(&address_), sizeof(address_)), 0);
    chmod(address_.sun_path, 0666);
  }
  void Listen(int backlog = 64) {
    Bind();
    ASSERT_EQ(listen(socket_.get(), backlog), 0);
  }

  // The exit status of attach_subject, 128 + the signal when one killed it. `prepare` runs in it before its
  // exec.
  int Run(
      const std::string& what, const std::vector<std::string>& settings = {},
      const std::function<void()>& prepare = [] {}) {
    std::vector<std::string> environment = settings;  // the first of a name is the one that counts
    environment.push_back("LD_PRELOAD=" MEMPULSE_ATTACH_LIBRARY);
    environment.push_back(std::string("MEMPULSE_ATTACH_SOCKET=") + address_.sun_path);
    const pid_t child = fork();
    if (child == 0) {
      closefrom(3);
      prepare();
      Execute(what, environment);
    }
    int status = 0;
    waitpid(child, &status, 0);
    last_ = child;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }

  // One entry an offer: the pid that made it.
  std::vector<pid_t> Offers() {
    std::vector<pid_t> pids;
    for (;;) {
      const UniqueFd connection(accept4(socket_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
      if (!connection.valid()) return pids;
      OfferPeer peer;
      EXPECT_TRUE(ReadOfferPeer(connection.get(), &peer));
      EXPECT_EQ(peer.uid, geteuid());
      const ReceivedOffer offer = ReceiveOffer(connection.get());
      EXPECT_EQ(offer.state, ReceivedOffer::State::kReceived) << OfferResultName(offer.refusal);
      pids.push_back(peer.pid);
    }
  }

  sockaddr_un address_{};
  std::string folder_;
  UniqueFd socket_;
  pid_t last_ = 0;

 private:
  [[noreturn]] static void Execute(const std::string& what, std::vector<std::string>& environment) {
    std::string program = MEMPULSE_ATTACH_SUBJECT;
    std::string argument = what;
    char* arguments[] = {program.data(), argument.data(), nullptr};
    std::vector<char*> variables;
    variables.reserve(environment.size() + 1);
    for (std::string& variable : environment) variables.push_back(variable.data());
    variables.push_back(nullptr);
    execve(program.c_str(), arguments, variables.data());
    _exit(99);
  }
};

// Answers one system call with `action` and allows the others.
void Filter(uint32_t call, uint32_t action) {
  sock_filter program[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, action),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog filter{4, program};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
      prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) != 0) {
    _exit(98);
  }
}

TEST_F(AttachLibraryTest, WithoutASocketNothingHappens) {
  for (const char* what : {"", "fork", "start", "threads", "exec", "descriptors"})
    EXPECT_EQ(Run(what), 0) << what;
}

TEST_F(AttachLibraryTest, WithAStaleSocketNothingHappens) {
  Bind();
  socket_.Reset();
  for (const char* what : {"", "fork", "exec"}) EXPECT_EQ(Run(what), 0) << what;
}

TEST_F(AttachLibraryTest, OffersAtStart) {
  Listen();
  EXPECT_EQ(Run(""), 0);
  EXPECT_EQ(Offers(), std::vector<pid_t>{last_});
}

TEST_F(AttachLibraryTest, OffersAfterForkForTheChild) {
  Listen();
  EXPECT_EQ(Run("fork"), 0);
  const std::vector<pid_t> pids = Offers();
  ASSERT_THAT(pids, SizeIs(2));
  EXPECT_EQ(pids[0], last_);
  EXPECT_NE(pids[1], last_);
}

TEST_F(AttachLibraryTest, ForksCanBeLeftAlone) {
  Listen();
  EXPECT_EQ(Run("fork", {"MEMPULSE_ATTACH_FORKS=0"}), 0);
  EXPECT_THAT(Offers(), SizeIs(1));
}

TEST_F(AttachLibraryTest, OffersAfterExecAgain) {
  Listen();
  EXPECT_EQ(Run("exec"), 0);
  EXPECT_EQ(Offers(), (std::vector<pid_t>{last_, last_}));
}

TEST_F(AttachLibraryTest, ChildrenThatShareMemoryOfferNothing) {
  Listen();
  EXPECT_EQ(Run("start"), 0);
  EXPECT_EQ(Offers(), std::vector<pid_t>{last_});
}

TEST_F(AttachLibraryTest, ForksBesideThreads) {
  Listen();
  EXPECT_EQ(Run("threads"), 0);
  EXPECT_THAT(Offers(), SizeIs(21));
}

TEST_F(AttachLibraryTest, WithoutAFreeDescriptorNothingHappens) {
  Listen();
  EXPECT_EQ(Run("descriptors"), 0);
  EXPECT_THAT(Offers(), SizeIs(1));
}

// The program ends although nobody ever accepts and the queue is full.
TEST_F(AttachLibraryTest, AFullQueueIsNotWaitedFor) {
  Listen(0);
  for (int i = 0; i < 5; ++i) EXPECT_EQ(Run("fork"), 0);
}

TEST_F(AttachLibraryTest, ASocketOfAnotherKindIsLeftAlone) {
  socket_.Reset(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  ASSERT_EQ(bind(socket_.get(), reinterpret_cast<const sockaddr*>(&address_), sizeof(address_)), 0);
  ASSERT_EQ(listen(socket_.get(), 4), 0);
  EXPECT_EQ(Run("fork"), 0);
  pollfd event{socket_.get(), POLLIN, 0};
  EXPECT_EQ(poll(&event, 1, 0), 0);
}

TEST_F(AttachLibraryTest, PathsThatCannotBeTurnItOff) {
  Listen();
  const std::string path = address_.sun_path;
  for (const std::string& other : {std::string(), path.substr(1), path + std::string(200, 'x')}) {
    EXPECT_EQ(Run("fork", {"MEMPULSE_ATTACH_SOCKET=" + other}), 0) << other;
  }
  EXPECT_THAT(Offers(), SizeIs(0));
}

// Such a filter would kill at the call itself.
TEST_F(AttachLibraryTest, UnderASeccompFilterOnlyWhenToldSo) {
  Listen();
  EXPECT_EQ(Run("fork", {}, [] { Filter(SYS_userfaultfd, SECCOMP_RET_KILL_PROCESS); }), 0);
  EXPECT_THAT(Offers(), SizeIs(0));
  const std::vector<std::string> told = {"MEMPULSE_ATTACH_UNDER_SECCOMP=1"};
  EXPECT_EQ(Run("", told, [] { Filter(SYS_reboot, SECCOMP_RET_KILL_PROCESS); }), 0);
  EXPECT_THAT(Offers(), SizeIs(1));
}

// The default profile of container engines.
TEST_F(AttachLibraryTest, ARefusedUserfaultfdIsNoHarm) {
  Listen();
  const std::vector<std::string> told = {"MEMPULSE_ATTACH_UNDER_SECCOMP=1"};
  EXPECT_EQ(Run("fork", told, [] { Filter(SYS_userfaultfd, SECCOMP_RET_ERRNO | EPERM); }), 0);
  for (int i = 0; i < 2; ++i) {
    const UniqueFd connection(accept4(socket_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    ASSERT_TRUE(connection.valid());
    EXPECT_EQ(ReceiveOffer(connection.get()).refusal, OfferResult::kSilent);
  }
}

TEST_F(AttachLibraryTest, NothingIsHandedToAnotherUser) {
  if (geteuid() != 0) GTEST_SKIP() << "takes root to run as two other users";
  const std::string library = folder_ + "/library.so";
  std::filesystem::copy_file(MEMPULSE_ATTACH_LIBRARY, library);
  chmod(folder_.c_str(), 0777);
  Bind();
  const pid_t listener = fork();  // who calls listen is who the library gets to see
  if (listener == 0) {
    if (setresuid(65533, 65533, 65533) != 0) _exit(1);
    _exit(listen(socket_.get(), 4) == 0 ? 0 : 2);
  }
  int status = 0;
  waitpid(listener, &status, 0);
  ASSERT_EQ(status, 0);
  const std::string program = folder_ + "/subject";
  std::filesystem::copy_file(MEMPULSE_ATTACH_SUBJECT, program);
  const pid_t child = fork();
  if (child == 0) {
    if (setresuid(65534, 65534, 65534) != 0) _exit(1);
    closefrom(3);
    const std::string preload = "LD_PRELOAD=" + library;
    const std::string path = std::string("MEMPULSE_ATTACH_SOCKET=") + address_.sun_path;
    const char* const variables[] = {preload.c_str(), path.c_str(), nullptr};
    const char* const arguments[] = {program.c_str(), nullptr};
    execve(program.c_str(), const_cast<char**>(arguments), const_cast<char**>(variables));
    _exit(99);
  }
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  const UniqueFd connection(accept4(socket_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  ASSERT_TRUE(connection.valid());
  EXPECT_EQ(ReceiveOffer(connection.get()).refusal, OfferResult::kSilent);
}

}  // namespace
}  // namespace mempulse
