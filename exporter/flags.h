#pragma once

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "config/options.h"

namespace mempulse {

// The command line of the exporter, as exporters have it. What is given overrides the configuration file.
struct Flags {
  std::string config_file;
  std::vector<std::string> listen_addresses;
  std::optional<std::string> telemetry_path;
  std::optional<int> max_requests;
  bool disable_exporter_metrics = false;
  std::optional<std::string> log_level;
  std::optional<std::string> log_format;
  std::optional<std::string> procfs;
  std::optional<std::string> sysfs;
  bool disable_default_collectors = false;
  bool collect_pages = false;  // named, which matters with disable_default_collectors
  bool no_collect_pages = false;
  bool check_config = false;
  uint64_t rounds = 0;  // 0: until stopped
};

// Either flags to run with, or an exit status: help, version and usage errors have been printed then.
struct ParsedFlags {
  Flags flags;
  std::optional<int> exit_status;
};
ParsedFlags ParseFlags(int argc, char** argv);

// The configuration file (when one is named) under the flags. InvalidArgument with every error of the file.
absl::StatusOr<Options> EffectiveOptions(const Flags& flags);

}  // namespace mempulse
