#include "collectors/pages/softdirty_kernel.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <utility>

#include "collectors/host/clock.h"
#include "collectors/host/errno_status.h"
#include "collectors/pages/pagemap.h"
#include "collectors/pages/pagemap_presence.h"
#include "collectors/pages/pagemap_scan.h"

namespace mempulse {
namespace {

constexpr size_t kScanRegions = 512;

// Linux 6.7 has the call without the category, and a later kernel without soft-dirty bits accepts the
// category and never sets it. A page of our own that was just written must be found.
bool ScansSoftDirty(const Host& host) {
  absl::StatusOr<UniqueFd> own = host.Open(host.procfs() + "/self/pagemap", O_RDONLY);
  void* page = mmap(nullptr, kPageSize, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (!own.ok() || page == MAP_FAILED) return false;
  *static_cast<volatile char*>(page) = 1;
  const auto start = reinterpret_cast<uint64_t>(page);
  ScanQuery query;
  query.all = kPagePresent | kPageSoftDirty;
  query.returned = kPagePresent;
  PageRegion region;
  const absl::StatusOr<ScanResult> found =
      ScanPages(own->get(), {start, start + kPageSize}, query, absl::MakeSpan(&region, 1));
  munmap(page, kPageSize);
  return found.ok() && found->regions == 1;
}

// Two that clear the same bits spoil each other's answers. The lock is on the open file, harms nobody, is
// seen through the same procfs only, and goes with the descriptor.
absl::Status Claim(int clear_refs) {
  struct flock lock {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  if (fcntl(clear_refs, F_OFD_SETLK, &lock) == 0) return absl::OkStatus();
  if (errno != EAGAIN && errno != EACCES) return absl::OkStatus();  // no locks here: the witnesses remain
  return absl::UnavailableError("foreign_tracker: another mempulse clears the soft-dirty bits of the target");
}

class LiveSoftDirtyKernel final : public SoftDirtyKernel {
 public:
  LiveSoftDirtyKernel(const Host& host, pid_t pid, Pagemap pagemap, UniqueFd clear_refs)
      : host_(host),
        pid_(pid),
        pagemap_(std::move(pagemap)),
        presence_(host, pid, &pagemap_),
        clear_refs_(std::move(clear_refs)),
        scans_(ScansSoftDirty(host)) {}
  // presence_ points at pagemap_.
  LiveSoftDirtyKernel(const LiveSoftDirtyKernel&) = delete;
  LiveSoftDirtyKernel& operator=(const LiveSoftDirtyKernel&) = delete;

  // The descriptor stays open: permission was checked when it was opened, and the kernel ignores its offset.
  absl::Status Clear() override {
    while (write(clear_refs_.get(), "4", 1) != 1) {
      if (errno != EINTR) return ErrnoStatus("write", host_.ProcPath(pid_, "clear_refs"));
    }
    return absl::OkStatus();
  }

  absl::Status ReadEntries(uint64_t start, absl::Span<uint64_t> entries) override {
    return pagemap_.Read(start, entries);
  }

  bool scans() const override { return scans_; }

  absl::Status ScanDirty(const PageRange& range, std::vector<PageRange>* dirty) override {
    ScanQuery query;
    query.all = kPagePresent | kPageSoftDirty;
    query.returned = kPagePresent;
    regions_.resize(kScanRegions);
    const size_t first = dirty->size();
    for (uint64_t from = range.start; from < range.end;) {
      absl::StatusOr<ScanResult> result =
          ScanPages(pagemap_.fd(), {from, range.end}, query, absl::MakeSpan(regions_));
      if (!result.ok()) return result.status();
      for (size_t i = 0; i < result->regions; ++i) {
        if (dirty->size() > first && dirty->back().end == regions_[i].start) {
          dirty->back().end = regions_[i].end;
        } else {
          dirty->push_back({regions_[i].start, regions_[i].end});
        }
      }
      if (result->walk_end <= from) break;
      from = result->walk_end;
    }
    return absl::OkStatus();
  }

  absl::StatusOr<std::vector<Mapping>> ReadMappings() override {
    // A new look at the mappings is a new look at their huge pages.
    presence_.Forget();
    bool truncated = false;
    return mempulse::ReadMappings(host_, pid_, &truncated);
  }

  absl::StatusOr<PresentPages> FindPresent(const Mapping& mapping) override {
    return presence_.FindPresent(mapping);
  }

  int64_t MonotonicNanos() override { return clock_.MonotonicNanos(); }

 private:
  const Host& host_;
  pid_t pid_;
  Pagemap pagemap_;
  PagemapPresence presence_;
  UniqueFd clear_refs_;
  SystemClock clock_;
  bool scans_;
  std::vector<PageRegion> regions_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<SoftDirtyKernel>> OpenSoftDirtyKernel(const Host& host, const Target& target) {
  absl::StatusOr<Pagemap> pagemap = Pagemap::Open(host, target.pid());
  if (!pagemap.ok()) return pagemap.status();
  absl::StatusOr<UniqueFd> clear_refs = host.Open(host.ProcPath(target.pid(), "clear_refs"), O_WRONLY);
  if (!clear_refs.ok()) return clear_refs.status();
  if (absl::Status claimed = Claim(clear_refs->get()); !claimed.ok()) return claimed;
  return std::make_unique<LiveSoftDirtyKernel>(host, target.pid(), std::move(*pagemap),
                                               std::move(*clear_refs));
}

}  // namespace mempulse
