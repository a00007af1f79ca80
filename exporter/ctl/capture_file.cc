#include "exporter/ctl/capture_file.h"

#include <xxhash.h>
#include <zlib.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <memory>

#include "absl/strings/str_cat.h"
#include "collectors/host/errno_status.h"
#include "exporter/ctl/capture_bytes.h"
#include "exporter/ctl/capture_fields.h"

namespace mempulse {
namespace {

constexpr absl::string_view kMagic = "MPCAP";
constexpr int kVersion = 1;
constexpr size_t kSizeBytes = 8;
constexpr size_t kChecksumBytes = 8;
constexpr size_t kHeaderBytes = kMagic.size() + 1 + kSizeBytes;
constexpr uint64_t kLargestPayload = uint64_t{1} << 30;
constexpr uint64_t kMostPages = uint64_t{1} << 24;
constexpr size_t kInflateStep = size_t{1} << 20;

void AppendNumber(uint64_t number, std::string* bytes) {
  char raw[sizeof(number)];
  std::memcpy(raw, &number, sizeof(number));
  bytes->append(raw, sizeof(raw));
}

uint64_t NumberAt(absl::string_view bytes, size_t offset) {
  uint64_t number = 0;
  std::memcpy(&number, bytes.data() + offset, sizeof(number));
  return number;
}

absl::Status Damaged(absl::string_view how) {
  return absl::InvalidArgumentError(absl::StrCat("the capture is damaged: ", how));
}

// zlib's input and output counters are 32 bits wide, so both sides move in steps.
absl::StatusOr<std::string> Inflate(absl::string_view compressed, uint64_t size) {
  z_stream stream{};
  if (inflateInit(&stream) != Z_OK) return absl::ResourceExhaustedError("zlib: no memory");
  const std::unique_ptr<z_stream, int (*)(z_stream*)> owner(&stream, inflateEnd);
  std::string payload;
  int result = Z_OK;
  while (result == Z_OK) {
    if (stream.avail_in == 0) {
      const size_t step = std::min(compressed.size(), kInflateStep);
      stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(compressed.data()));
      stream.avail_in = static_cast<uInt>(step);
      compressed.remove_prefix(step);
    }
    const size_t before = payload.size();
    payload.resize(std::min<uint64_t>(before + kInflateStep, size + 1));
    stream.next_out = reinterpret_cast<Bytef*>(payload.data() + before);
    stream.avail_out = static_cast<uInt>(payload.size() - before);
    result = inflate(&stream, Z_NO_FLUSH);
    payload.resize(payload.size() - stream.avail_out);
    if (payload.size() > size) return Damaged("it holds more than it says");
  }
  if (result != Z_STREAM_END || payload.size() != size || stream.avail_in > 0 || !compressed.empty()) {
    return Damaged("it does not unpack");
  }
  return payload;
}

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
  CaptureWriter writer;
  writer(info);
  writer(sample);
  const std::string payload = writer.Take();
  std::string bytes(kMagic);
  bytes.push_back(static_cast<char>(kVersion));
  AppendNumber(payload.size(), &bytes);
  uLongf size = compressBound(payload.size());
  bytes.resize(kHeaderBytes + size);
  compress2(reinterpret_cast<Bytef*>(bytes.data() + kHeaderBytes), &size,
            reinterpret_cast<const Bytef*>(payload.data()), payload.size(), Z_DEFAULT_COMPRESSION);
  bytes.resize(kHeaderBytes + size);
  AppendNumber(XXH3_64bits(bytes.data(), bytes.size()), &bytes);
  return bytes;
}

absl::StatusOr<Capture> DecodeCapturePayload(absl::string_view payload) {
  Capture capture;
  CaptureReader reader(payload);
  reader(capture.info);
  reader(capture.sample);
  if (!reader.ok()) return Damaged(reader.problem());
  if (!reader.at_end()) return Damaged("it holds more than a capture");
  if (absl::Status status = Check(capture.sample); !status.ok()) return status;
  return capture;
}

absl::StatusOr<Capture> DecodeCapture(absl::string_view bytes) {
  if (bytes.substr(0, kMagic.size()) != kMagic)
    return absl::InvalidArgumentError("this is not a mempulse capture");
  if (bytes.size() < kHeaderBytes + kChecksumBytes) return Damaged("it is cut off");
  const int version = static_cast<unsigned char>(bytes[kMagic.size()]);
  if (version != kVersion) {
    return absl::InvalidArgumentError(absl::StrCat("the capture has format version ", version,
                                                   "; this program reads version ", kVersion,
                                                   ": use the mempulsectl of the version that wrote it"));
  }
  const size_t end = bytes.size() - kChecksumBytes;
  if (XXH3_64bits(bytes.data(), end) != NumberAt(bytes, end)) return Damaged("its checksum is wrong");
  const uint64_t size = NumberAt(bytes, kMagic.size() + 1);
  if (size > kLargestPayload) return Damaged(absl::StrCat("it says that it unpacks to ", size, " bytes"));
  const absl::StatusOr<std::string> payload = Inflate(bytes.substr(kHeaderBytes, end - kHeaderBytes), size);
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
  std::string step(kInflateStep, '\0');
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
