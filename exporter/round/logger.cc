#include "exporter/round/logger.h"

#include <array>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "nlohmann/json.hpp"

namespace mempulse {
namespace {

// Subjects come from targets: hostile names must not grow the memory of what was said.
constexpr size_t kMostSaid = 4096;

constexpr std::array<const char*, 4> kLevelNames = {"debug", "info", "warn", "error"};

LogLevel ParseLevel(absl::string_view text) {
  for (size_t i = 0; i < kLevelNames.size(); ++i) {
    if (text == kLevelNames[i]) return static_cast<LogLevel>(i);
  }
  return LogLevel::kInfo;
}

// JSON's escapes are what logfmt readers understand too; invalid UTF-8 becomes U+FFFD.
std::string Quote(absl::string_view text) {
  return nlohmann::json(std::string(text)).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

bool NeedsQuotes(absl::string_view text) {
  if (text.empty()) return true;
  for (const char c : text) {
    if (static_cast<unsigned char>(c) <= ' ' || c == '"' || c == '=' || c == '\\' ||
        static_cast<unsigned char>(c) >= 0x7f) {
      return true;
    }
  }
  return false;
}

std::string Body(bool json, LogLevel level, absl::string_view message, LogFields fields) {
  const char* const name = kLevelNames[static_cast<size_t>(level)];
  std::string line = json ? absl::StrCat("\"level\":\"", name, "\",\"msg\":", Quote(message))
                          : absl::StrCat("level=", name, " msg=", Quote(message));
  for (const auto& [key, value] : fields) {
    if (json) {
      absl::StrAppend(&line, ",\"", key, "\":", Quote(value));
    } else {
      absl::StrAppend(&line, " ", key, "=", NeedsQuotes(value) ? Quote(value) : value);
    }
  }
  return line;
}

std::string WithTime(bool json, absl::Time time, const std::string& body) {
  const std::string stamp = absl::FormatTime("%Y-%m-%dT%H:%M:%E3SZ", time, absl::UTCTimeZone());
  return json ? absl::StrCat("{\"ts\":\"", stamp, "\",", body, "}") : absl::StrCat("ts=", stamp, " ", body);
}

}  // namespace

std::string FormatLogLine(bool json, absl::Time time, LogLevel level, absl::string_view message,
                          LogFields fields) {
  return WithTime(json, time, Body(json, level, message, fields));
}

Logger::Logger(absl::string_view level, absl::string_view format, std::FILE* stream)
    : level_(ParseLevel(level)), json_(format == "json"), stream_(stream) {}

void Logger::Log(LogLevel level, absl::string_view message, LogFields fields) {
  if (level < level_) return;
  const std::string line = WithTime(json_, absl::Now(), Body(json_, level, message, fields)) + "\n";
  const absl::MutexLock lock(&mutex_);
  std::fwrite(line.data(), 1, line.size(), stream_);
  std::fflush(stream_);
}

void Logger::LogOnce(absl::string_view subject, LogLevel level, absl::string_view message, LogFields fields) {
  {
    const absl::MutexLock lock(&mutex_);
    if (said_.size() >= kMostSaid) said_.clear();
    if (!said_.emplace(std::string(subject), Body(json_, level, message, fields)).second) return;
  }
  Log(level, message, fields);
}

void Logger::Forget(absl::string_view subject) {
  const absl::MutexLock lock(&mutex_);
  for (auto entry = said_.lower_bound({std::string(subject), ""});
       entry != said_.end() && entry->first == subject;) {
    entry = said_.erase(entry);
  }
}

}  // namespace mempulse
