#pragma once

#include <array>

#include "absl/strings/string_view.h"

namespace mempulse {

// What a mapping is. file-data: private or shared file mapping that is not executable; file-text: executable
// file mapping; anon: private anonymous; shared: anonymous shared, memfd, shm, tmpfs segments without a
// stable file; jit: anonymous executable; device: character devices and drivers' memory; other: vdso, vvar,
// special.
enum class RegionKind { kFileData, kFileText, kHeap, kStack, kAnon, kShared, kJit, kDevice, kOther };

inline constexpr std::array<RegionKind, 9> kAllRegionKinds = {
    RegionKind::kFileData, RegionKind::kFileText, RegionKind::kHeap,   RegionKind::kStack, RegionKind::kAnon,
    RegionKind::kShared,   RegionKind::kJit,      RegionKind::kDevice, RegionKind::kOther};

// "file-data", "file-text", "heap", ...: the text used in labels, JSON and configuration. A static string.
absl::string_view RegionKindName(RegionKind kind);
bool ParseRegionKind(absl::string_view text, RegionKind* kind);

}  // namespace mempulse
