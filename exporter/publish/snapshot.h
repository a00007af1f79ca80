#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "exporter/publish/own_state.h"

namespace mempulse {

struct BuildInfo {
  std::string version;
  std::string revision;
  std::string compiler;
};

// Everything a request can be answered with, rendered beforehand. Immutable once published.
struct Snapshot {
  // The text of one `?collect[]=` group; families never spread over two parts.
  struct Part {
    std::string collector;
    std::string text;
  };
  // One line of the landing page.
  struct TargetSummary {
    std::string name;
    int matched = 0;
    int swept = 0;
    std::string trackers;      // "writeprotect, hashdiff"; empty when none works
    double ceiling_pages = 0;  // valid when `measured`
    double hottest_hertz = 0;
    bool measured = false;
    std::vector<std::string> problems;
  };

  std::vector<Part> parts;   // in the order of the page
  std::string text;          // all parts
  std::string gzip;          // `text` compressed
  std::string targets_json;  // /api/v1/targets
  size_t series = 0;         // samples in `text`
  uint64_t round = 0;        // 0: before the first round ended
  absl::Time round_finished;
  BuildInfo build;
  std::vector<TargetSummary> targets;
};

// Hands the newest snapshot from the round to the web server. Thread-safe; never null after the first
// Publish.
class SnapshotBoard {
 public:
  void Publish(std::shared_ptr<const Snapshot> snapshot) ABSL_LOCKS_EXCLUDED(mutex_);
  std::shared_ptr<const Snapshot> Take() const ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  mutable absl::Mutex mutex_;
  std::shared_ptr<const Snapshot> snapshot_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace mempulse
