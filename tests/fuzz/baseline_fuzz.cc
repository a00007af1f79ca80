// libFuzzer's entry; always 0. Needs clang: configure with MEMPULSE_FUZZ and run as `baseline_fuzz
// CORPUS_FOLDER`.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "absl/strings/string_view.h"
#include "exporter/analysis/scores.h"
#include "exporter/baseline/baseline_codec.h"

// Any bytes are refused with a sentence or become a baseline that can be compared with and saved.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const absl::string_view bytes(reinterpret_cast<const char*>(data), size);
  if (mempulse::DecodeBaseline(bytes).ok()) return 0;
  const absl::StatusOr<mempulse::Baseline> baseline = mempulse::DecodeBaselinePayload(bytes);
  if (!baseline.ok()) return baseline.status().message().empty() ? (std::abort(), 0) : 0;
  mempulse::ReferenceScores::Of(*baseline, mempulse::EnvelopeOf(*baseline), {});
  if (!mempulse::DecodeBaseline(mempulse::EncodeBaseline(*baseline)).ok()) std::abort();
  return 0;
}
