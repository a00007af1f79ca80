// mempulse_exporter: flags, signals, wiring.
#include <signal.h>

#include <cstdio>
#include <memory>
#include <stop_token>
#include <thread>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "collectors/host/privileges.h"
#include "config/option_warnings.h"
#include "exporter/build_info.h"
#include "exporter/exporter.h"
#include "exporter/flags.h"

namespace mempulse {
namespace {

sigset_t HandledSignals() {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&signals, signal);
  return signals;
}

// Waits for signals in a thread of its own until told to end by SIGTERM.
void HandleSignals(Exporter* exporter, std::stop_source* stop) {
  const sigset_t signals = HandledSignals();
  for (;;) {
    int signal = 0;
    if (sigwait(&signals, &signal) != 0) continue;
    if (signal != SIGHUP) break;
    exporter->Reload().IgnoreError();
  }
  stop->request_stop();
}

int RunExporter(const Flags& flags, const Options& options) {
  Logger log(options.log.level, options.log.format, stderr);
  log.Log(LogLevel::kInfo, "starting mempulse_exporter",
          {{"version", kVersion}, {"revision", kRevision}, {"config", flags.config_file}});
  const sigset_t signals = HandledSignals();
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  signal(SIGPIPE, SIG_IGN);
  const auto kept = DropUnneededPrivileges();
  if (kept.ok()) {
    log.Log(LogLevel::kInfo, "privileges dropped", {{"kept", absl::StrJoin(*kept, ",")}});
  } else {
    log.Log(LogLevel::kWarn, "privileges not dropped", {{"error", std::string(kept.status().message())}});
  }
  absl::StatusOr<std::unique_ptr<Exporter>> exporter = Exporter::Create(flags, options, log);
  if (!exporter.ok()) {
    log.Log(LogLevel::kError, "cannot start", {{"error", std::string(exporter.status().message())}});
    return 1;
  }
  for (const std::string& warning : OptionWarnings(options)) {
    log.Log(LogLevel::kWarn, "doubtful configuration", {{"warning", warning}});
  }
  std::stop_source stop;
  std::thread signal_thread(HandleSignals, exporter->get(), &stop);
  (*exporter)->Run(stop.get_token());
  if (!stop.stop_requested()) pthread_kill(signal_thread.native_handle(), SIGTERM);
  signal_thread.join();
  log.Log(LogLevel::kInfo, "stopped", {});
  return 0;
}

int Main(int argc, char** argv) {
  const ParsedFlags parsed = ParseFlags(argc, argv);
  if (parsed.exit_status.has_value()) return *parsed.exit_status;
  const absl::StatusOr<Options> options = EffectiveOptions(parsed.flags);
  if (!options.ok()) {
    std::fprintf(stderr, "%s\n", std::string(options.status().message()).c_str());
    return 1;
  }
  if (parsed.flags.check_config) {
    for (const std::string& warning : OptionWarnings(*options)) std::fprintf(stderr, "%s\n", warning.c_str());
    std::printf("%s is valid: %zu target group(s)\n", parsed.flags.config_file.c_str(),
                options->targets.size());
    return 0;
  }
  return RunExporter(parsed.flags, *options);
}

}  // namespace
}  // namespace mempulse

int main(int argc, char** argv) { return mempulse::Main(argc, argv); }
