#include "exporter/flags.h"

#include <iostream>

#include "CLI/CLI.hpp"
#include "config/load_options.h"
#include "exporter/build_info.h"

namespace mempulse {

ParsedFlags ParseFlags(int argc, char** argv) {
  ParsedFlags parsed;
  Flags& flags = parsed.flags;
  CLI::App app{
      "mempulse_exporter measures how fast the memory of a service changes, page by page, and serves it to "
      "Prometheus."};
  app.set_version_flag("--version", VersionText("mempulse_exporter"));
  app.add_option("--config.file", flags.config_file, "YAML configuration; docs/config.md lists its keys");
  app.add_option("--web.listen-address", flags.listen_addresses,
                 "HOST:PORT, [V6]:PORT or :PORT to listen on; may be given more than once");
  app.add_option("--web.telemetry-path", flags.telemetry_path, "path of the metrics");
  app.add_option("--web.max-requests", flags.max_requests, "scrapes answered at once; 503 beyond");
  app.add_flag("--web.disable-exporter-metrics", flags.disable_exporter_metrics,
               "leave out process_* and the exporter's own HTTP counters");
  app.add_option("--log.level", flags.log_level, "debug, info, warn or error")
      ->check(CLI::IsMember({"debug", "info", "warn", "error"}));
  app.add_option("--log.format", flags.log_format, "logfmt or json")
      ->check(CLI::IsMember({"logfmt", "json"}));
  app.add_option("--path.procfs", flags.procfs, "where procfs is mounted");
  app.add_option("--path.sysfs", flags.sysfs, "where sysfs is mounted");
  CLI::Option* const pages =
      app.add_flag("--collector.pages", flags.collect_pages, "sweep pages (default on)");
  app.add_flag("--no-collector.pages", flags.no_collect_pages, "do not sweep pages")->excludes(pages);
  app.add_flag("--collector.disable-defaults", flags.disable_default_collectors,
               "run only collectors that are named");
  app.add_flag("--config.check", flags.check_config, "check the configuration and exit");
  app.add_option("--rounds", flags.rounds, "exit after so many rounds (0: run until stopped)");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    const int status = app.exit(error);
    parsed.exit_status = status == 0 ? 0 : 2;
  }
  return parsed;
}

absl::StatusOr<Options> EffectiveOptions(const Flags& flags) {
  Options options;
  if (!flags.config_file.empty()) {
    absl::StatusOr<Options> loaded = LoadOptions(flags.config_file);
    if (!loaded.ok()) return loaded;
    options = *std::move(loaded);
  }
  if (!flags.listen_addresses.empty()) options.web.listen_addresses = flags.listen_addresses;
  if (flags.telemetry_path.has_value()) options.web.telemetry_path = *flags.telemetry_path;
  if (flags.max_requests.has_value()) options.web.max_requests = *flags.max_requests;
  if (flags.disable_exporter_metrics) options.web.exporter_metrics = false;
  if (flags.log_level.has_value()) options.log.level = *flags.log_level;
  if (flags.log_format.has_value()) options.log.format = *flags.log_format;
  if (flags.procfs.has_value()) options.path.procfs = *flags.procfs;
  if (flags.sysfs.has_value()) options.path.sysfs = *flags.sysfs;
  const bool pages = flags.collect_pages || !flags.disable_default_collectors;
  if (flags.no_collect_pages || !pages) options.targets.clear();
  return options;
}

}  // namespace mempulse
