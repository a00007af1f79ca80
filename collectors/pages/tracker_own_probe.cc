#include "collectors/pages/tracker_own_probe.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>
#include <xxhash.h>

#include <cerrno>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "collectors/host/errno_status.h"
#include "collectors/host/kernel_facts.h"
#include "collectors/pages/pagemap.h"
#include "collectors/pages/pagemap_scan.h"
#include "collectors/pages/userfaultfd.h"

namespace mempulse {
namespace {

constexpr char kNewerKernel[] = "use Linux 6.7 or later, or softdirty or hashdiff";

// Two populated base pages with a protected one on each side, so that no mapping of another thread is merged
// with them.
class ProbePages {
 public:
  ProbePages() {
    void* area = mmap(nullptr, kPages * kPageSize, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (area == MAP_FAILED) return;
    area_ = static_cast<char*>(area);
    madvise(area_, kPages * kPageSize, MADV_NOHUGEPAGE);
    if (mprotect(area_ + kPageSize, 2 * kPageSize, PROT_READ | PROT_WRITE) != 0) return;
    Write(0);
    Write(1);
    ready_ = true;
  }
  ~ProbePages() {
    if (area_ != nullptr) munmap(area_, kPages * kPageSize);
  }
  ProbePages(const ProbePages&) = delete;
  ProbePages& operator=(const ProbePages&) = delete;

  bool ready() const { return ready_; }
  PageRange range() const {
    const uint64_t start = reinterpret_cast<uint64_t>(area_) + kPageSize;
    return {start, start + 2 * kPageSize};
  }
  void Write(int page) {
    volatile char* byte = area_ + (page + 1) * kPageSize;
    *byte = static_cast<char>(*byte + 1);
  }

 private:
  static constexpr uint64_t kPages = 4;
  char* area_ = nullptr;
  bool ready_ = false;
};

struct Written {
  bool first = false;
  bool second = false;
};

TrackerSupport Works(TrackerKind kind) { return {kind, true, "ok", "", ""}; }

TrackerSupport Fails(TrackerKind kind, std::string reason, std::string detail, std::string remedy) {
  return {kind, false, std::move(reason), std::move(detail), std::move(remedy)};
}

TrackerSupport FailsToOpen(TrackerKind kind, const absl::Status& status) {
  if (absl::StrContains(status.message(), "(EACCES)")) {
    return Fails(
        kind, "not_dumpable", absl::StrCat("the exporter cannot open its own files: ", status.message()),
        "add CAP_DAC_OVERRIDE and CAP_SYS_PTRACE to its file capabilities, or give it none and run it as the "
        "target's user");
  }
  return Fails(kind, "error", std::string(status.message()), "");
}

TrackerSupport FailsAnswer(TrackerKind kind, const char* what, const char* remedy) {
  return Fails(kind, "kernel", what, remedy);
}

bool UsesBasePages() { return sysconf(_SC_PAGESIZE) == static_cast<long>(kPageSize); }

TrackerSupport FailsPageSize(TrackerKind kind) {
  return Fails(kind, "architecture",
               absl::StrCat("the page size is ", sysconf(_SC_PAGESIZE), " bytes, not 4096"), "");
}

std::string SelfPath(const Host& host, const char* name) {
  return absl::StrCat(host.procfs(), "/self/", name);
}

// ---- soft-dirty ----

absl::StatusOr<Written> SoftDirtyOf(const Host& host, const ProbePages& pages) {
  absl::StatusOr<UniqueFd> fd = host.Open(SelfPath(host, "pagemap"), O_RDONLY);
  if (!fd.ok()) return fd.status();
  uint64_t entries[2] = {};
  const auto offset = static_cast<off_t>(pages.range().start / kPageSize * sizeof(uint64_t));
  if (pread(fd->get(), entries, sizeof(entries), offset) != static_cast<ssize_t>(sizeof(entries))) {
    return ErrnoStatus("read", "pagemap");
  }
  return Written{(entries[0] & kEntrySoftDirty) != 0, (entries[1] & kEntrySoftDirty) != 0};
}

absl::Status ClearOwnSoftDirty(const Host& host) {
  absl::StatusOr<UniqueFd> fd = host.Open(SelfPath(host, "clear_refs"), O_WRONLY);
  if (!fd.ok()) return fd.status();
  if (write(fd->get(), "4", 1) != 1) return ErrnoStatus("write", "clear_refs");
  return absl::OkStatus();
}

TrackerSupport TrySoftDirty(const Host& host) {
  constexpr TrackerKind kKind = TrackerKind::kSoftDirty;
  constexpr char kRemedy[] = "use a kernel built with CONFIG_MEM_SOFT_DIRTY, or writeprotect or hashdiff";
  ProbePages pages;
  if (!pages.ready()) return Fails(kKind, "error", "no memory for the probe", "");
  const absl::StatusOr<Written> fresh = SoftDirtyOf(host, pages);
  if (!fresh.ok()) return FailsToOpen(kKind, fresh.status());
  if (const absl::Status status = ClearOwnSoftDirty(host); !status.ok()) return FailsToOpen(kKind, status);
  const absl::StatusOr<Written> cleared = SoftDirtyOf(host, pages);
  pages.Write(0);
  const absl::StatusOr<Written> after = SoftDirtyOf(host, pages);
  if (!cleared.ok() || !after.ok()) return Fails(kKind, "error", "pagemap could not be read again", "");
  if (!after->first) {
    return FailsAnswer(kKind,
                       "a page that was just written does not read soft-dirty: the kernel accepts the clear "
                       "but has no soft-dirty bits",
                       kRemedy);
  }
  if (!fresh->first || cleared->first || cleared->second) {
    return FailsAnswer(kKind, "a cleared page still reads soft-dirty", kRemedy);
  }
  if (after->second) return FailsAnswer(kKind, "a page that nobody wrote reads soft-dirty", kRemedy);
  return Works(kKind);
}

// ---- write protection ----

absl::StatusOr<Written> ScanWritten(const Pagemap& pagemap, const ProbePages& pages) {
  ScanQuery query;
  query.flags = kScanProtect | kScanNeedsWpAsync;
  query.all = kPageWritten | kPagePresent;
  query.returned = kPageWritten;
  PageRegion regions[2];
  const absl::StatusOr<ScanResult> result =
      ScanPages(pagemap.fd(), pages.range(), query, absl::MakeSpan(regions));
  if (!result.ok()) return result.status();
  Written written;
  for (size_t i = 0; i < result->regions; ++i) {
    const uint64_t second = pages.range().start + kPageSize;
    written.first = written.first || regions[i].start < second;
    written.second = written.second || regions[i].end > second;
  }
  return written;
}

// Kernels differ in the categories they know, not only in the call.
absl::Status CheckScanCategories(const Pagemap& pagemap, const ProbePages& pages) {
  for (const PageCategory category : {kPagePresent, kPageWritten, kPageWpAllowed, kPageHuge}) {
    ScanQuery query;
    query.any = category;
    query.returned = category;
    PageRegion region;
    const absl::StatusOr<ScanResult> result =
        ScanPages(pagemap.fd(), pages.range(), query, absl::MakeSpan(&region, 1));
    if (!result.ok()) return result.status();
  }
  return absl::OkStatus();
}

TrackerSupport ExplainNoUserfaultfd(const Host& host, const absl::Status& status) {
  constexpr TrackerKind kKind = TrackerKind::kWriteProtect;
  const absl::StatusOr<ProcessSecurity> own = ReadProcessSecurity(host, 0);
  if (own.ok() && own->seccomp_mode != 0) {
    return Fails(kKind, "seccomp",
                 absl::StrCat(status.message(), "; the exporter runs under a seccomp filter (Seccomp: ",
                              own->seccomp_mode, ")"),
                 "use a seccomp profile that allows userfaultfd; the target's own filter decides whether it "
                 "can be used");
  }
  if (absl::StrContains(status.message(), "(ENOSYS)")) {
    return Fails(kKind, "kernel",
                 absl::StrCat(status.message(), "; the kernel is built without CONFIG_USERFAULTFD"),
                 "use a kernel built with CONFIG_USERFAULTFD, or softdirty or hashdiff");
  }
  return Fails(kKind, "error", std::string(status.message()), "");
}

TrackerSupport JudgeWriteProtect(const Pagemap& pagemap, ProbePages* pages) {
  constexpr TrackerKind kKind = TrackerKind::kWriteProtect;
  const absl::StatusOr<Written> fresh = ScanWritten(pagemap, *pages);
  const absl::StatusOr<Written> cleared = ScanWritten(pagemap, *pages);
  pages->Write(0);
  const absl::StatusOr<Written> after = ScanWritten(pagemap, *pages);
  for (const absl::StatusOr<Written>* look : {&fresh, &cleared, &after}) {
    if (!look->ok()) return Fails(kKind, "kernel", std::string(look->status().message()), kNewerKernel);
  }
  if (!fresh->first || !fresh->second)
    return FailsAnswer(kKind, "a fresh page does not read written", kNewerKernel);
  if (cleared->first || cleared->second)
    return FailsAnswer(kKind, "a reset page still reads written", kNewerKernel);
  if (!after->first)
    return FailsAnswer(kKind, "a page that was just written does not read written", kNewerKernel);
  if (after->second) return FailsAnswer(kKind, "a page that nobody wrote reads written", kNewerKernel);
  return Works(kKind);
}

}  // namespace

TrackerSupport ProbeOwnWriteProtect(const Host& host) {
  constexpr TrackerKind kKind = TrackerKind::kWriteProtect;
#if !defined(__x86_64__)
  return Fails(kKind, "architecture", "injecting a system call is written for x86-64 only", "");
#endif
  if (!UsesBasePages()) return FailsPageSize(kKind);
  ProbePages pages;
  if (!pages.ready()) return Fails(kKind, "error", "no memory for the probe", "");
  const absl::StatusOr<Pagemap> pagemap = Pagemap::Open(host, getpid());
  if (!pagemap.ok()) return FailsToOpen(kKind, pagemap.status());
  if (const absl::Status status = CheckScanCategories(*pagemap, pages); !status.ok()) {
    return Fails(kKind, "kernel", std::string(status.message()), kNewerKernel);
  }
  absl::StatusOr<UniqueFd> userfaultfd = CreateUserfaultfd();
  if (!userfaultfd.ok()) return ExplainNoUserfaultfd(host, userfaultfd.status());
  const absl::StatusOr<WriteProtection> protection = WriteProtection::Negotiate(std::move(*userfaultfd));
  if (!protection.ok()) {
    return Fails(kKind, "kernel", std::string(protection.status().message()), kNewerKernel);
  }
  if (const int error = protection->Register(pages.range()); error != 0) {
    return Fails(kKind, "kernel", std::string(ErrnoStatus("ioctl", "UFFDIO_REGISTER", error).message()),
                 kNewerKernel);
  }
  return JudgeWriteProtect(*pagemap, &pages);
}

TrackerSupport ProbeOwnSoftDirty(const Host& host) {
  if (!UsesBasePages()) return FailsPageSize(TrackerKind::kSoftDirty);
  // A second probe in another thread may clear in the middle of this one.
  constexpr int kTries = 3;
  TrackerSupport support;
  for (int i = 0; i < kTries; ++i) {
    support = TrySoftDirty(host);
    if (support.supported || support.reason != "kernel") break;
  }
  return support;
}

TrackerSupport ProbeOwnHashDiff(const Host& host) {
  constexpr TrackerKind kKind = TrackerKind::kHashDiff;
  if (!UsesBasePages()) return FailsPageSize(kKind);
  ProbePages pages;
  if (!pages.ready()) return Fails(kKind, "error", "no memory for the probe", "");
  const absl::StatusOr<UniqueFd> fd = host.Open(SelfPath(host, "mem"), O_RDONLY);
  if (!fd.ok()) return FailsToOpen(kKind, fd.status());
  std::vector<char> copy(2 * kPageSize);
  uint64_t hashes[3][2] = {};
  for (int look = 0; look < 3; ++look) {
    if (look == 2) pages.Write(0);
    const ssize_t got = pread(fd->get(), copy.data(), copy.size(), static_cast<off_t>(pages.range().start));
    if (got != static_cast<ssize_t>(copy.size())) {
      return Fails(kKind, "error", std::string(ErrnoStatus("read", "own mem").message()), "");
    }
    for (int page = 0; page < 2; ++page) {
      hashes[look][page] = XXH3_64bits(copy.data() + page * kPageSize, kPageSize);
    }
  }
  if (hashes[0][0] != hashes[1][0] || hashes[0][0] == hashes[2][0] || hashes[1][1] != hashes[2][1]) {
    return Fails(kKind, "error", "the hash of a page does not follow its content", "");
  }
  return Works(kKind);
}

}  // namespace mempulse
