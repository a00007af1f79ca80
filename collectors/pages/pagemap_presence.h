#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "collectors/host/host.h"
#include "collectors/pages/coverage.h"
#include "collectors/pages/pagemap.h"

namespace mempulse {

// How much of one mapping is on huge pages, from /proc/PID/smaps.
struct HugeUse {
  PageRange range;
  uint64_t transparent_bytes = 0;  // AnonHugePages, ShmemPmdMapped and FilePmdMapped
  bool explicit_pages = false;     // hugetlbfs: the whole mapping
};

// Mappings of an smaps text that are on huge pages, ascending.
std::vector<HugeUse> ParseHugeUse(absl::string_view smaps_text);

// Splits the present pages of a mapping into base and huge ones for kernels that do not tell them apart. A
// transparent huge page is an aligned block of 512 present pages; when more blocks than huge pages look like
// that, all of them are in doubt and are given as huge.
PresentPages SplitByHugeUse(const std::vector<PageRange>& present, const std::optional<HugeUse>& use);

// Present pages of a live process: PAGEMAP_SCAN where the kernel has it (exact), else the entries and, where
// a huge page is possible, smaps. Neither host nor pagemap may go before it. Not thread-safe.
class PagemapPresence final : public PresenceSource {
 public:
  PagemapPresence(const Host& host, pid_t pid, const Pagemap* pagemap)
      : host_(host), pid_(pid), pagemap_(pagemap) {}

  absl::StatusOr<PresentPages> FindPresent(const Mapping& mapping) override;

  // Drops what was read of smaps: called before the mappings are gone through anew.
  void Forget() { huge_use_.reset(); }

 private:
  absl::StatusOr<bool> ScanPresent(const PageRange& range, PresentPages* present);
  absl::StatusOr<PresentPages> WalkPresent(const PageRange& range);
  std::optional<HugeUse> HugeUseOf(const PageRange& range);

  const Host& host_;
  pid_t pid_;
  const Pagemap* pagemap_;
  bool scan_missing_ = false;
  std::optional<std::vector<HugeUse>> huge_use_;
  std::vector<uint64_t> entries_;
};

}  // namespace mempulse
