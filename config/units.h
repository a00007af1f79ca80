#pragma once

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"

// The units a configuration file takes, and the way back. Pure; InvalidArgument says what to write instead.
namespace mempulse {

// One decimal number and one of ns, us, ms, s, m, h: "20ms", "1.5s", "2m". A bare number is refused.
absl::StatusOr<absl::Duration> ParseDurationText(absl::string_view text);

// A share as "1%" or "0.01"; never negative, not limited above.
absl::StatusOr<double> ParseRatioText(absl::string_view text);

// A whole number of bytes, bare or with B, KiB, MiB, GiB, TiB: "64MiB", "4096".
absl::StatusOr<uint64_t> ParseBytesText(absl::string_view text);

// The shortest text that ParseDurationText reads back to `duration` (whole nanoseconds): "250us", "1m".
std::string DurationText(absl::Duration duration);

// "1%", "25%": what ParseRatioText reads back.
std::string RatioText(double ratio);

}  // namespace mempulse
