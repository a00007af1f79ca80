#include "collectors/pages/tracker_access.h"

#include <fcntl.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "collectors/host/unique_fd.h"
#include "collectors/pages/pagemap.h"
#include "collectors/pages/pagemap_scan.h"
#include "collectors/targets/mapping_list.h"

namespace mempulse {
namespace {

// Status has no room for an errno, and the decision needs it: the one place that opens without Host::Open.
int ErrorOfOpen(const std::string& path, int flags, UniqueFd* opened = nullptr) {
  UniqueFd fd(open(path.c_str(), flags | O_CLOEXEC | O_NONBLOCK));
  if (!fd.valid()) return errno;
  if (opened != nullptr) *opened = std::move(fd);
  return 0;
}

// smaps and maps of newer kernels check the permission at open, older ones at the first read.
int ErrorOfRead(const std::string& path) {
  UniqueFd fd;
  if (const int error = ErrorOfOpen(path, O_RDONLY, &fd); error != 0) return error;
  char byte = 0;
  return read(fd.get(), &byte, 1) < 0 ? errno : 0;
}

// The kernel checks the permission to trace before it looks at the descriptor number, which cannot exist.
int ErrorOfAttach(int pidfd) {
  if (pidfd < 0) return ENOSYS;
  const long fd = syscall(SYS_pidfd_getfd, pidfd, INT_MAX, 0);
  if (fd >= 0) close(static_cast<int>(fd));
  return fd >= 0 || errno == EBADF ? 0 : errno;
}

bool DeniedByFilter(long result) {
  return result < 0 && (errno == EPERM || errno == EACCES || errno == ENOSYS);
}

// Asked of ourselves, where nothing but a filter would refuse: both calls fail otherwise, but with another
// errno.
void ReadOwnFilter(TargetAccess* access) {
  if (access->own.seccomp_mode == 0) return;
  access->own_filter_denies_ptrace = DeniedByFilter(ptrace(PTRACE_DETACH, getpid(), nullptr, nullptr));
  const UniqueFd self(static_cast<int>(syscall(SYS_pidfd_open, getpid(), 0)));
  if (!self.valid()) return;
  access->own_filter_denies_pidfd_getfd = DeniedByFilter(syscall(SYS_pidfd_getfd, self.get(), INT_MAX, 0));
}

void AskToTrace(const Target& target, TargetAccess* access) {
  access->errors.attach = ErrorOfAttach(target.pidfd());
  ReadOwnFilter(access);
}

// An id map says which namespace a process lives in to whom may not see the namespace itself: every reader of
// a namespace is shown a text of its own.
void ReadUserNamespaces(const Host& host, pid_t pid, TargetAccess* access) {
  const absl::StatusOr<std::string> own_map = host.ReadFile(host.procfs() + "/self/uid_map", 4096);
  const absl::StatusOr<std::string> its_map = host.ReadFile(host.ProcPath(pid, "uid_map"), 4096);
  if (!own_map.ok() || !its_map.ok()) return;
  const std::vector<std::string> words = absl::StrSplit(*own_map, absl::ByAnyChar(" \n"), absl::SkipEmpty());
  access->initial_user_namespace = words == std::vector<std::string>{"0", "0", "4294967295"};
  const absl::StatusOr<std::string> own_link = host.ReadLink(host.procfs() + "/self/ns/user");
  const absl::StatusOr<std::string> its_link = host.ReadLink(host.ProcPath(pid, "ns/user"));
  access->other_user_namespace =
      own_link.ok() && its_link.ok() ? *own_link != *its_link : *own_map != *its_map;
}

pid_t ParentOf(const Host& host, pid_t pid) {
  const absl::StatusOr<std::string> text = host.ReadProcFile(pid, "status", 64 << 10);
  if (!text.ok()) return 0;
  for (const absl::string_view line : absl::StrSplit(*text, '\n')) {
    int parent = 0;
    if (line.substr(0, 5) == "PPid:" && absl::SimpleAtoi(line.substr(5), &parent)) return parent;
  }
  return 0;
}

bool IsDescendant(const Host& host, pid_t pid) {
  constexpr int kDeepest = 64;
  const pid_t self = getpid();
  for (int depth = 0; depth < kDeepest && pid > 1; ++depth) {
    pid = ParentOf(host, pid);
    if (pid == self) return true;
  }
  return false;
}

bool Is32Bit(const Host& host, pid_t pid) {
  constexpr size_t kClassOffset = 4;
  constexpr char kElfClass32 = 1;
  const absl::StatusOr<std::string> head = host.ReadProcFile(pid, "exe", kClassOffset + 1);
  return head.ok() && head->size() == kClassOffset + 1 &&
         head->compare(0, 4,
                       "\x7f"
                       "ELF") == 0 &&
         (*head)[kClassOffset] == kElfClass32;
}

// A page is "written"-trackable only in mappings that somebody registered; the kernel skips the others
// unwalked.
bool HasWriteProtection(const Pagemap& pagemap, const std::vector<Mapping>& mappings) {
  ScanQuery query;
  query.all = kPageWpAllowed;
  query.returned = kPageWpAllowed;
  query.max_pages = 1;
  PageRegion region;
  for (const Mapping& mapping : mappings) {
    if (mapping.kind == RegionKind::kOther) continue;
    const absl::StatusOr<ScanResult> result =
        ScanPages(pagemap.fd(), {mapping.start, mapping.end}, query, absl::MakeSpan(&region, 1));
    if (!result.ok()) return false;
    if (result->regions > 0) return true;
  }
  return false;
}

// The lock that OpenSoftDirtyKernel takes; asking does not take it.
bool HasSoftDirtyTracker(const Host& host, pid_t pid) {
  const absl::StatusOr<UniqueFd> fd = host.Open(host.ProcPath(pid, "clear_refs"), O_WRONLY);
  struct flock lock {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  return fd.ok() && fcntl(fd->get(), F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
}

void LookIntoPagemap(const Host& host, pid_t pid, TargetAccess* access) {
  const absl::StatusOr<Pagemap> pagemap = Pagemap::Open(host, pid);
  bool truncated = false;
  const absl::StatusOr<std::vector<Mapping>> mappings = ReadMappings(host, pid, &truncated);
  if (!pagemap.ok() || !mappings.ok()) return;
  access->foreign_write_protection = HasWriteProtection(*pagemap, *mappings);
  for (const Mapping& mapping : *mappings) {
    uint64_t entry = 0;
    if (!pagemap->Read(mapping.start, absl::MakeSpan(&entry, 1)).ok()) return;
    if ((entry & kEntryPresent) == 0) continue;
    access->frames_visible = (entry & kEntryFrameMask) != 0;
    return;
  }
}

}  // namespace

absl::StatusOr<TargetAccess> ReadTargetAccess(const Host& host, const Target& target, TraceQuestion trace) {
  TargetAccess access;
  absl::StatusOr<ProcessSecurity> own = ReadProcessSecurity(host, 0);
  if (!own.ok()) return own.status();
  access.own = *own;
  access.yama_scope = ReadKernelFacts(host).yama_scope;
  const pid_t pid = target.pid();
  const absl::StatusOr<ProcessSecurity> security = ReadProcessSecurity(host, pid);
  const absl::StatusOr<Target::Change> change = target.Check(host);
  access.gone = !security.ok() || (change.ok() && *change == Target::Change::kExited);
  if (access.gone) return access;
  access.target = *security;
  access.errors.maps = ErrorOfRead(host.ProcPath(pid, "maps"));
  access.errors.smaps = ErrorOfOpen(host.ProcPath(pid, "smaps"), O_RDONLY);
  access.errors.pagemap = ErrorOfOpen(host.ProcPath(pid, "pagemap"), O_RDONLY);
  access.errors.mem = ErrorOfOpen(host.ProcPath(pid, "mem"), O_RDONLY);
  access.errors.clear_refs = ErrorOfOpen(host.ProcPath(pid, "clear_refs"), O_WRONLY);
  access.foreign_soft_dirty = HasSoftDirtyTracker(host, pid);
  if (trace == TraceQuestion::kAsked) AskToTrace(target, &access);
  struct stat owner {};
  if (stat(host.ProcPath(pid, "mem").c_str(), &owner) == 0) {
    access.not_dumpable = owner.st_uid != access.target.uids[1];
  }
  access.is_descendant = IsDescendant(host, pid);
  // What we may do as an ancestor, the helper process that attaches may not: to it the target is a sibling.
  const bool only_as_ancestor = trace == TraceQuestion::kAsked && access.is_descendant &&
                                access.yama_scope.value_or(0) == 1 &&
                                !access.own.effective.Has(Capability::kSysPtrace);
  if (access.errors.attach == 0 && (access.own_filter_denies_ptrace || only_as_ancestor)) {
    access.errors.attach = EPERM;
  }
  access.is_32_bit = Is32Bit(host, pid);
  ReadUserNamespaces(host, pid, &access);
  LookIntoPagemap(host, pid, &access);
  return access;
}

}  // namespace mempulse
