#include "exporter/files/packed_bytes.h"

#include <xxhash.h>
#include <zlib.h>

#include <algorithm>
#include <cstring>
#include <memory>

#include "absl/strings/str_cat.h"

namespace mempulse {
namespace {

constexpr size_t kSizeBytes = 8;
constexpr size_t kChecksumBytes = 8;
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

// zlib's input and output counters are 32 bits wide, so both sides move in steps.
absl::StatusOr<std::string> Inflate(const FileForm& form, absl::string_view compressed, uint64_t size) {
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
    if (payload.size() > size) return Damaged(form, "it holds more than it says");
  }
  if (result != Z_STREAM_END || payload.size() != size || stream.avail_in > 0 || !compressed.empty()) {
    return Damaged(form, "it does not unpack");
  }
  return payload;
}

}  // namespace

absl::Status Damaged(const FileForm& form, absl::string_view how) {
  return absl::InvalidArgumentError(absl::StrCat("the ", form.what, " is damaged: ", how));
}

std::string PackBytes(const FileForm& form, absl::string_view payload) {
  std::string bytes(form.magic);
  bytes.push_back(static_cast<char>(form.version));
  AppendNumber(payload.size(), &bytes);
  const size_t header = bytes.size();
  uLongf size = compressBound(payload.size());
  bytes.resize(header + size);
  compress2(reinterpret_cast<Bytef*>(bytes.data() + header), &size,
            reinterpret_cast<const Bytef*>(payload.data()), payload.size(), Z_DEFAULT_COMPRESSION);
  bytes.resize(header + size);
  AppendNumber(XXH3_64bits(bytes.data(), bytes.size()), &bytes);
  return bytes;
}

absl::StatusOr<std::string> UnpackBytes(const FileForm& form, absl::string_view bytes) {
  const size_t header = form.magic.size() + 1 + kSizeBytes;
  if (bytes.substr(0, form.magic.size()) != form.magic) {
    return absl::InvalidArgumentError(absl::StrCat("this is not a mempulse ", form.what));
  }
  if (bytes.size() < header + kChecksumBytes) return Damaged(form, "it is cut off");
  const int version = static_cast<unsigned char>(bytes[form.magic.size()]);
  if (version != form.version) {
    return absl::InvalidArgumentError(absl::StrCat("the ", form.what, " has format version ", version,
                                                   "; this program reads version ", form.version, ": ",
                                                   form.other_version));
  }
  const size_t end = bytes.size() - kChecksumBytes;
  if (XXH3_64bits(bytes.data(), end) != NumberAt(bytes, end)) return Damaged(form, "its checksum is wrong");
  const uint64_t size = NumberAt(bytes, form.magic.size() + 1);
  if (size > form.largest_payload)
    return Damaged(form, absl::StrCat("it says that it unpacks to ", size, " bytes"));
  return Inflate(form, bytes.substr(header, end - header), size);
}

}  // namespace mempulse
