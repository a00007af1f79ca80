#include "collectors/pages/softdirty_kernel.h"

#include <fcntl.h>
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

// Linux 6.7 has the call without the category; a kernel without soft-dirty refuses the category as well.
bool ScansSoftDirty(const Pagemap& pagemap) {
  ScanQuery query;
  query.all = kPagePresent | kPageSoftDirty;
  query.returned = kPagePresent;
  PageRegion region;
  return ScanPages(pagemap.fd(), {kPageSize, 2 * kPageSize}, query, absl::MakeSpan(&region, 1)).ok();
}

class LiveSoftDirtyKernel final : public SoftDirtyKernel {
 public:
  LiveSoftDirtyKernel(const Host& host, pid_t pid, Pagemap pagemap, UniqueFd clear_refs)
      : host_(host),
        pid_(pid),
        pagemap_(std::move(pagemap)),
        presence_(host, pid, &pagemap_),
        clear_refs_(std::move(clear_refs)),
        scans_(ScansSoftDirty(pagemap_)) {}
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
  return std::make_unique<LiveSoftDirtyKernel>(host, target.pid(), std::move(*pagemap),
                                               std::move(*clear_refs));
}

}  // namespace mempulse
