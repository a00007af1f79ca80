#include "exporter/files/field_bytes.h"

#include <cmath>
#include <limits>

namespace mempulse {
namespace {

constexpr uint64_t kLongestText = 64 << 10;
constexpr uint32_t kTicksASecond = 4'000'000'000;

absl::Duration Tick() { return absl::Nanoseconds(1) / 4; }

}  // namespace

DurationParts SplitDuration(absl::Duration duration) {
  absl::Duration rest;
  int64_t seconds = absl::IDivDuration(duration, absl::Seconds(1), &rest);
  if (duration == absl::InfiniteDuration() || duration == -absl::InfiniteDuration()) {
    const bool past = duration < absl::ZeroDuration();
    return {static_cast<uint64_t>(past ? std::numeric_limits<int64_t>::min()
                                       : std::numeric_limits<int64_t>::max()),
            kTicksASecond};
  }
  if (rest < absl::ZeroDuration()) {
    rest += absl::Seconds(1);
    --seconds;
  }
  return {static_cast<uint64_t>(seconds), static_cast<uint32_t>(absl::IDivDuration(rest, Tick(), &rest))};
}

absl::Duration JoinDuration(const DurationParts& parts) {
  const auto seconds = static_cast<int64_t>(parts.seconds);
  if (parts.ticks >= kTicksASecond) return seconds < 0 ? -absl::InfiniteDuration() : absl::InfiniteDuration();
  return absl::Seconds(seconds) + Tick() * int64_t{parts.ticks};
}

void FieldWriter::operator()(uint64_t value) {
  while (value >= 0x80) {
    bytes_.push_back(static_cast<char>(value | 0x80));
    value >>= 7;
  }
  bytes_.push_back(static_cast<char>(value));
}

void FieldWriter::operator()(const std::string& value) {
  const uint64_t size = std::min<uint64_t>(value.size(), kLongestText);
  (*this)(size);
  Raw(value.data(), size);
}

void FieldWriter::operator()(absl::Duration value) {
  const DurationParts parts = SplitDuration(value);
  (*this)(parts.seconds);
  (*this)(parts.ticks);
}

void FieldReader::Fail(absl::string_view problem) {
  if (ok()) problem_ = problem;
  bytes_ = {};
}

bool FieldReader::Raw(void* data, size_t size) {
  if (bytes_.size() < size) {
    Fail("the data end too early");
    return false;
  }
  std::memcpy(data, bytes_.data(), size);
  bytes_.remove_prefix(size);
  return true;
}

void FieldReader::operator()(uint64_t& value) {
  value = 0;
  for (int shift = 0; shift < 64; shift += 7) {
    unsigned char byte = 0;
    if (!Raw(&byte, 1)) return;
    value |= uint64_t{byte & 0x7FU} << shift;
    if ((byte & 0x80U) == 0) return;
  }
  Fail("a number is too long");
}

void FieldReader::operator()(uint32_t& value) {
  uint64_t wide = 0;
  (*this)(wide);
  if (wide > std::numeric_limits<uint32_t>::max()) return Fail("a number is too large");
  value = static_cast<uint32_t>(wide);
}

void FieldReader::operator()(bool& value) {
  unsigned char byte = 0;
  if (!Raw(&byte, 1)) return;
  if (byte > 1) return Fail("a flag is neither 0 nor 1");
  value = byte == 1;
}

void FieldReader::operator()(double& value) {
  double raw = 0;
  if (!Raw(&raw, sizeof(raw))) return;
  if (!std::isfinite(raw)) return Fail("a number is not finite");
  value = raw;
}

void FieldReader::operator()(float& value) {
  float raw = 0;
  if (!Raw(&raw, sizeof(raw))) return;
  if (!std::isfinite(raw)) return Fail("a number is not finite");
  value = raw;
}

void FieldReader::operator()(std::string& value) {
  uint64_t size = 0;
  (*this)(size);
  if (size > kLongestText || size > bytes_.size()) return Fail("a text is too long");
  value.assign(bytes_.data(), size);
  bytes_.remove_prefix(size);
}

void FieldReader::operator()(absl::Duration& value) {
  DurationParts parts;
  (*this)(parts.seconds);
  (*this)(parts.ticks);
  if (parts.ticks > kTicksASecond) return Fail("a duration is malformed");
  if (ok()) value = JoinDuration(parts);
}

void FieldReader::operator()(absl::Time& value) {
  absl::Duration since;
  (*this)(since);
  if (ok()) value = absl::UnixEpoch() + since;
}

}  // namespace mempulse
