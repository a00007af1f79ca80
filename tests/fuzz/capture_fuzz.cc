// libFuzzer's entry; always 0. Needs clang: configure with MEMPULSE_FUZZ and run as `capture_fuzz
// CORPUS_FOLDER`.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "absl/strings/string_view.h"
#include "exporter/analysis/frequency_distribution.h"
#include "exporter/analysis/hot_regions.h"
#include "exporter/analysis/invert_windows.h"
#include "exporter/ctl/capture_file.h"

// Any bytes are refused with a sentence or become a sample that can be analysed. Taken as a file and, because
// no mutation finds a right checksum, as the payload inside one.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const absl::string_view bytes(reinterpret_cast<const char*>(data), size);
  if (mempulse::DecodeCapture(bytes).status().message().empty()) std::abort();
  const absl::StatusOr<mempulse::Capture> capture = mempulse::DecodeCapturePayload(bytes);
  if (!capture.ok()) return capture.status().message().empty() ? (std::abort(), 0) : 0;
  const mempulse::FrequencyMap map = mempulse::InvertWindows(capture->sample);
  mempulse::Distribute(map);
  mempulse::MergeHotRegions(map);
  return 0;
}
