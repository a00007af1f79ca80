#include "exporter/ctl/capture_file.h"

#include <algorithm>
#include <cstdio>
#include <fstream>

#include "absl/strings/str_cat.h"
#include "collectors/host/errno_status.h"
#include "exporter/ctl/capture_fields.h"
#include "exporter/files/field_bytes.h"
#include "exporter/files/packed_bytes.h"

namespace mempulse {
namespace {

constexpr uint64_t kLargestPayload = uint64_t{1} << 30;
constexpr FileForm kForm = {"MPCAP", 1, kLargestPayload, "capture",
                            "use the mempulsectl of the version that wrote it"};
constexpr uint64_t kMostPages = uint64_t{1} << 24;
constexpr size_t kReadStep = size_t{1} << 20;

absl::Status Damaged(absl::string_view how) { return Damaged(kForm, how); }

bool Ascending(const std::vector<PageRange>& ranges, uint64_t* pages) {
  uint64_t end = 0;
  for (const PageRange& range : ranges) {
    if (range.start < end || range.end < range.start ||
        range.start % kPageSize + range.end % kPageSize != 0) {
      return false;
    }
    end = range.end;
    *pages += range.pages();
  }
  return true;
}

// What the analysis takes for granted.
absl::Status Check(const SweepSample& sample) {
  if (sample.page_size != kPageSize) {
    return Damaged(absl::StrCat("pages of ", sample.page_size, " bytes are not known"));
  }
  uint64_t written = 0;
  uint64_t looked = 0;
  if (!Ascending(sample.gap.written, &written) || !Ascending(sample.gap.looked, &looked)) {
    return Damaged("the pages of the pause are out of order");
  }
  if (written > kMostPages) return Damaged("too many pages were written in the pause");
  for (const RungSample& rung : sample.rungs) {
    if (rung.looks.size() > UINT32_MAX) return Damaged("too many looks");
    for (const RungSample::Hit& hit : rung.record) {
      if (hit.page >= rung.pages.size() || hit.look >= rung.looks.size()) {
        return Damaged("a recorded hit belongs to no page or look");
      }
    }
  }
  return absl::OkStatus();
}

}  // namespace

std::string EncodeCapture(const SweepSample& sample, const CaptureInfo& info) {
  FieldWriter writer;
  writer(info);
  writer(sample);
  return PackBytes(kForm, writer.Take());
}

absl::StatusOr<Capture> DecodeCapturePayload(absl::string_view payload) {
  Capture capture;
  FieldReader reader(payload);
  reader(capture.info);
  reader(capture.sample);
  if (!reader.ok()) return Damaged(reader.problem());
  if (!reader.at_end()) return Damaged("it holds more than a capture");
  if (absl::Status status = Check(capture.sample); !status.ok()) return status;
  return capture;
}

absl::StatusOr<Capture> DecodeCapture(absl::string_view bytes) {
  const absl::StatusOr<std::string> payload = UnpackBytes(kForm, bytes);
  if (!payload.ok()) return payload.status();
  return DecodeCapturePayload(*payload);
}

absl::Status WriteCaptureFile(const std::string& path, const SweepSample& sample, const CaptureInfo& info) {
  const std::string bytes = EncodeCapture(sample, info);
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  if (!file) return ErrnoStatus("open for writing", path);
  file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  file.close();
  if (file) return absl::OkStatus();
  const absl::Status status = ErrnoStatus("write", path);
  std::remove(path.c_str());
  return status;
}

absl::StatusOr<Capture> ReadCaptureFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return ErrnoStatus("open", path);
  std::string bytes;
  std::string step(kReadStep, '\0');
  while (file.read(step.data(), static_cast<std::streamsize>(step.size())) || file.gcount() > 0) {
    bytes.append(step.data(), static_cast<size_t>(file.gcount()));
    if (bytes.size() > kLargestPayload) {
      return absl::InvalidArgumentError(absl::StrCat(path, ": larger than any capture (1 GiB)"));
    }
  }
  if (file.bad()) return ErrnoStatus("read", path);
  absl::StatusOr<Capture> capture = DecodeCapture(bytes);
  if (capture.ok()) return capture;
  return absl::Status(capture.status().code(), absl::StrCat(path, ": ", capture.status().message()));
}

}  // namespace mempulse
