#pragma once

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "collectors/pages/sweep_sample.h"

// A sweep's raw looks in one file, to be analysed again elsewhere: the bug report of a bad reading.
//
// "MPCAP", one byte of version, the payload's size before compression (8 bytes, little-endian), the payload
// compressed by zlib, and XXH3 (64 bits) of everything before it.
namespace mempulse {

struct CaptureInfo {
  std::string exporter_version;
  std::string kernel;  // release, e.g. "6.12.6-amd64"
  std::string comm;    // the target's
  absl::Time taken_at;
};

struct Capture {
  CaptureInfo info;
  SweepSample sample;
};

std::string EncodeCapture(const SweepSample& sample, const CaptureInfo& info);

// InvalidArgument with a sentence when it is no capture, of another version, damaged, or would exceed the
// limits (1 GiB of payload, 16 Mi written pages in the pause). Safe on hostile input. Thread-safe.
absl::StatusOr<Capture> DecodeCapture(absl::string_view bytes);

// The part of DecodeCapture behind checksum and compression, which a forger gets right: this is what is
// fuzzed.
absl::StatusOr<Capture> DecodeCapturePayload(absl::string_view payload);

// Errors name the path. A file that could not be written whole is removed.
absl::Status WriteCaptureFile(const std::string& path, const SweepSample& sample, const CaptureInfo& info);
absl::StatusOr<Capture> ReadCaptureFile(const std::string& path);

}  // namespace mempulse
