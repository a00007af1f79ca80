#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "exporter/analysis/baseline.h"

// The bytes of a baseline file: a packed file (exporter/files/packed_bytes.h) with the magic "MPBASE".
// Frequencies are kept in steps of 1/64 octave (1.1 %), low ends rounded down and high ends up, sorted curves
// as differences.
namespace mempulse {

inline constexpr uint64_t kLargestBaselineFile = 16 << 20;  // bytes

std::string EncodeBaseline(const Baseline& baseline);

// InvalidArgument with a sentence when it is no baseline, of another version, damaged, or beyond the limits
// (64 MiB of payload, 100,000 runs, 10,000 objects and 1 Mi identities a run). Safe on hostile input.
// Thread-safe.
absl::StatusOr<Baseline> DecodeBaseline(absl::string_view bytes);

// The part of DecodeBaseline behind checksum and compression, which a forger gets right: this is what is
// fuzzed.
absl::StatusOr<Baseline> DecodeBaselinePayload(absl::string_view payload);

}  // namespace mempulse
