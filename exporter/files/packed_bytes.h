#pragma once

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

// The envelope of every file of ours: magic, one byte of version, the payload's size before compression (8
// bytes, little-endian), the payload compressed by zlib, and XXH3 (64 bits) of everything before it.
namespace mempulse {

struct FileForm {
  absl::string_view magic;  // static
  int version = 1;
  uint64_t largest_payload = 0;     // bytes, unpacked
  absl::string_view what;           // "capture": for sentences
  absl::string_view other_version;  // what to do with a file of another version
};

std::string PackBytes(const FileForm& form, absl::string_view payload);

// The payload. InvalidArgument with a sentence when it is no such file, of another version, damaged, or
// larger than the form allows. Safe on hostile input; allocates no more than the payload. Thread-safe.
absl::StatusOr<std::string> UnpackBytes(const FileForm& form, absl::string_view bytes);

// InvalidArgument: "the WHAT is damaged: HOW".
absl::Status Damaged(const FileForm& form, absl::string_view how);

}  // namespace mempulse
