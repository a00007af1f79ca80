// libmempulse_attach.so: hands a userfaultfd of the process it is loaded into to a mempulse_exporter that
// listens on a Unix socket, at start and in the child after a fork. docs/cooperative-attach.md has the whole
// story.
//
// It lives in somebody else's program. So: raw system calls only (errno is never touched, no symbol of a libc
// is needed), no allocation, no thread, no signal, nothing that waits, no descriptor kept, and nothing at all
// where the socket is absent.
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/auxv.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include "preload/attach_offer.h"

#ifndef __x86_64__
#error "only x86-64 is supported"
#endif

struct PeerCredentials {  // the kernel's struct ucred, which libc shows to GNU programs only
  int32_t pid;
  uint32_t uid;
  uint32_t gid;
};

#define KEEP_WEAK __attribute__((weak, visibility("default")))

// Looked up in whatever libc there is; null where it has none of the name.
extern int __register_atfork(void (*prepare)(void), void (*parent)(void), void (*child)(void),
                             void* owner) KEEP_WEAK;
extern int pthread_atfork(void (*prepare)(void), void (*parent)(void), void (*child)(void)) KEEP_WEAK;
extern const char* gnu_get_libc_version(void) KEEP_WEAK;
extern unsigned long getauxval(unsigned long type) KEEP_WEAK;
extern char** environ KEEP_WEAK;

static struct sockaddr_un exporter_address;  // an empty path: no offers
static int offers_under_filter;

static long Call(long number, long a, long b, long c, long d, long e) {
  register long r10 __asm__("r10") = d;
  register long r8 __asm__("r8") = e;
  long result;
  __asm__ volatile("syscall"
                   : "=a"(result)
                   : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8)
                   : "rcx", "r11", "memory");
  return result;
}

static void Close(int fd) { Call(SYS_close, fd, 0, 0, 0, 0); }

// A seccomp filter may kill at a call it does not know, and userfaultfd is such a call. The calls made up to
// here are those that the dynamic loader has just made itself. Unknown counts as filtered.
static int RunsUnfiltered(void) {
  static const char kWanted[] = "\nSeccomp:\t0\n";
  const int fd = (int)Call(SYS_openat, AT_FDCWD, (long)"/proc/self/status", O_RDONLY | O_CLOEXEC, 0, 0);
  if (fd < 0) return 0;
  char chunk[512];
  size_t matched = 0;
  long length = 0;
  while (kWanted[matched] != 0 && (length = Call(SYS_read, fd, (long)chunk, sizeof(chunk), 0, 0)) > 0) {
    for (long i = 0; i < length && kWanted[matched] != 0; ++i) {
      if (chunk[i] != kWanted[matched]) matched = 0;
      if (chunk[i] == kWanted[matched]) ++matched;
    }
  }
  Close(fd);
  return kWanted[matched] == 0;
}

// Who holds the descriptor can put pages into this process: only our own user and root may.
static int ListenerIsTrusted(int fd) {
  struct PeerCredentials peer = {0, UINT32_MAX, 0};
  socklen_t size = sizeof(peer);
  if (Call(SYS_getsockopt, fd, SOL_SOCKET, SO_PEERCRED, (long)&peer, (long)&size) != 0) return 0;
  return peer.uid == 0 || peer.uid == (uint32_t)Call(SYS_geteuid, 0, 0, 0, 0, 0);
}

static void Send(int fd, int userfaultfd, uint32_t occasion) {
  struct MempulseOffer offer = {{'m', 'e', 'm', 'p', 'u', 'l', 's', 'e'}, MEMPULSE_OFFER_VERSION, occasion};
  union {
    struct cmsghdr header;
    char bytes[CMSG_SPACE(sizeof(int))];
  } control;
  struct iovec part = {&offer, sizeof(offer)};
  struct msghdr message;
  control.header.cmsg_len = CMSG_LEN(sizeof(int));
  control.header.cmsg_level = SOL_SOCKET;
  control.header.cmsg_type = SCM_RIGHTS;
  *(int*)(void*)CMSG_DATA(&control.header) = userfaultfd;
  message.msg_name = NULL;
  message.msg_namelen = 0;
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control.bytes;
  message.msg_controllen = sizeof(control.bytes);
  message.msg_flags = 0;
  Call(SYS_sendmsg, fd, (long)&message, MSG_NOSIGNAL | MSG_DONTWAIT, 0, 0);
}

static void Offer(uint32_t occasion) {
  if (Call(SYS_access, (long)exporter_address.sun_path, F_OK, 0, 0, 0) != 0) return;
  if (!offers_under_filter && !RunsUnfiltered()) return;
  const int fd = (int)Call(SYS_socket, AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, 0, 0);
  if (fd < 0) return;
  if (Call(SYS_connect, fd, (long)&exporter_address, sizeof(exporter_address), 0, 0) == 0 &&
      ListenerIsTrusted(fd)) {
    const int userfaultfd =
        (int)Call(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK | UFFD_USER_MODE_ONLY, 0, 0, 0, 0);
    if (userfaultfd >= 0) {
      Send(fd, userfaultfd, occasion);
      Close(userfaultfd);
    }
  }
  Close(fd);
}

static void OfferAfterFork(void) { Offer(kMempulseOfferAfterFork); }

// The text after "NAME=", or null.
static const char* ValueOf(char** environment, const char* name) {
  for (; *environment != NULL; ++environment) {
    size_t i = 0;
    while (name[i] != 0 && (*environment)[i] == name[i]) ++i;
    if (name[i] == 0 && (*environment)[i] == '=') return *environment + i + 1;
  }
  return NULL;
}

static int IsWord(const char* text, char word) { return text != NULL && text[0] == word && text[1] == 0; }

// Keeps the path; 0 when it is none that could be connected to.
static int KeepAddress(const char* path) {
  if (path[0] != '/') return 0;
  size_t length = 0;
  while (path[length] != 0) {
    if (length + 1 >= sizeof(exporter_address.sun_path)) return 0;
    exporter_address.sun_path[length] = path[length];
    ++length;
  }
  exporter_address.sun_family = AF_UNIX;
  return 1;
}

// A program that runs with more rights than its caller must not take a socket's name from the caller.
static int HasBorrowedRights(void) {
  if (getauxval != NULL) return getauxval(AT_SECURE) != 0;
  return Call(SYS_getuid, 0, 0, 0, 0, 0) != Call(SYS_geteuid, 0, 0, 0, 0, 0) ||
         Call(SYS_getgid, 0, 0, 0, 0, 0) != Call(SYS_getegid, 0, 0, 0, 0, 0);
}

static void WatchForks(void) {
  if (__register_atfork != NULL) {
    __register_atfork(NULL, NULL, OfferAfterFork, &exporter_address);
  } else if (pthread_atfork != NULL) {
    pthread_atfork(NULL, NULL, OfferAfterFork);
  }
}

// glibc passes the environment to constructors, perhaps before `environ` is set; other libcs pass nothing.
__attribute__((constructor)) static void Start(int argc, char** argv, char** environment) {
  (void)argc;
  (void)argv;
  if (gnu_get_libc_version == NULL) environment = &environ != NULL ? environ : NULL;
  if (environment == NULL || HasBorrowedRights()) return;
  const char* path = ValueOf(environment, "MEMPULSE_ATTACH_SOCKET");
  if (!KeepAddress(path != NULL ? path : MEMPULSE_OFFER_DEFAULT_SOCKET)) return;
  offers_under_filter = IsWord(ValueOf(environment, "MEMPULSE_ATTACH_UNDER_SECCOMP"), '1');
  if (!IsWord(ValueOf(environment, "MEMPULSE_ATTACH_FORKS"), '0')) WatchForks();
  Offer(kMempulseOfferAtStart);
}
