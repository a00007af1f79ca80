#pragma once

#include <cstdio>
#include <initializer_list>
#include <set>
#include <string>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"

namespace mempulse {

enum class LogLevel { kDebug, kInfo, kWarn, kError };

using LogFields = std::initializer_list<std::pair<absl::string_view, std::string>>;

// One line of logfmt or JSON, without the newline. Pure; values may hold any byte and come out as valid
// UTF-8.
std::string FormatLogLine(bool json, absl::Time time, LogLevel level, absl::string_view message,
                          LogFields fields);

// Writes lines to a stream. Thread-safe; never fails (a log that cannot be written is lost, not fatal).
class Logger {
 public:
  // `level`: debug, info, warn, error; `format`: logfmt, json. Unknown words mean info and logfmt.
  Logger(absl::string_view level, absl::string_view format, std::FILE* stream);

  void Log(LogLevel level, absl::string_view message, LogFields fields) ABSL_LOCKS_EXCLUDED(mutex_);
  // Says the same thing about the same subject once, until Forget(subject): refusals are no news every round.
  void LogOnce(absl::string_view subject, LogLevel level, absl::string_view message, LogFields fields)
      ABSL_LOCKS_EXCLUDED(mutex_);
  void Forget(absl::string_view subject) ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  const LogLevel level_;
  const bool json_;
  std::FILE* const stream_;
  absl::Mutex mutex_;
  std::set<std::pair<std::string, std::string>> said_ ABSL_GUARDED_BY(mutex_);  // subject, line without time
};

}  // namespace mempulse
