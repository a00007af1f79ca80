#include "collectors/targets/classify_mapping.h"

#include <array>

#include "absl/strings/match.h"
#include "absl/strings/string_view.h"

namespace mempulse {
namespace {

RegionKind WithoutFile(const Mapping& mapping, RegionKind kind) {
  return mapping.executable ? RegionKind::kJit : kind;
}

RegionKind ClassifyBracketed(const Mapping& mapping) {
  const absl::string_view name = mapping.name;
  if (name == "[heap]") return RegionKind::kHeap;
  if (name == "[stack]" || absl::StartsWith(name, "[stack:")) return RegionKind::kStack;
  if (absl::StartsWith(name, "[anon:")) return WithoutFile(mapping, RegionKind::kAnon);
  if (absl::StartsWith(name, "[anon_shmem:")) return WithoutFile(mapping, RegionKind::kShared);
  return RegionKind::kOther;
}

RegionKind ClassifyUnderDev(const Mapping& mapping) {
  static constexpr std::array<absl::string_view, 3> kSegments = {"/dev/shm/", "/dev/hugepages",
                                                                 "/dev/ashmem"};
  for (absl::string_view prefix : kSegments) {
    if (absl::StartsWith(mapping.name, prefix)) return WithoutFile(mapping, RegionKind::kShared);
  }
  // A shared mapping of /dev/zero is a shmem object that is born deleted; a private one is anonymous memory.
  if (mapping.name == "/dev/zero") {
    return WithoutFile(mapping, mapping.shared || mapping.deleted ? RegionKind::kShared : RegionKind::kAnon);
  }
  return RegionKind::kDevice;
}

// Objects of the kernel's own mounts: they have a device with major 0 and were never linked anywhere.
RegionKind ClassifyUnlinkedInMemory(const Mapping& mapping) {
  const absl::string_view name = mapping.name;
  if (absl::StartsWith(name, "/[")) return RegionKind::kOther;  // "/[aio]": a ring of the kernel
  if (name == "/drm mm object" || name == "/i915") return RegionKind::kDevice;
  if (name == "/anon_hugepage" && !mapping.shared) return WithoutFile(mapping, RegionKind::kAnon);
  if (absl::StartsWith(name, "/memfd:") || absl::StartsWith(name, "/SYSV") || name == "/anon_hugepage" ||
      name == "/secretmem") {
    return WithoutFile(mapping, RegionKind::kShared);
  }
  if (mapping.shared && !mapping.executable) return RegionKind::kShared;
  return mapping.executable ? RegionKind::kFileText : RegionKind::kFileData;
}

RegionKind ClassifyPath(const Mapping& mapping) {
  const absl::string_view name = mapping.name;
  if (absl::StartsWith(name, "/dev/")) return ClassifyUnderDev(mapping);
  // Registers of PCI devices are mapped through sysfs and procfs files.
  if (absl::StartsWith(name, "/sys/") || absl::StartsWith(name, "/proc/") ||
      absl::StartsWith(name, "/dmabuf:")) {
    return RegionKind::kDevice;
  }
  if (mapping.deleted && mapping.device_major == 0) return ClassifyUnlinkedInMemory(mapping);
  return mapping.executable ? RegionKind::kFileText : RegionKind::kFileData;
}

}  // namespace

RegionKind ClassifyMapping(const Mapping& mapping) {
  const absl::string_view name = mapping.name;
  if (name.empty()) {
    return WithoutFile(mapping, mapping.shared ? RegionKind::kShared : RegionKind::kAnon);
  }
  if (name.front() == '[') return ClassifyBracketed(mapping);
  if (name.front() == '/') return ClassifyPath(mapping);
  if (absl::StartsWith(name, "anon_inode:") || absl::StartsWith(name, "socket:")) return RegionKind::kDevice;
  return RegionKind::kOther;
}

}  // namespace mempulse
