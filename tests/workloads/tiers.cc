// A service with known write rates: what the measurements are proved on, and what ./run watches.
#include <unistd.h>

#include <condition_variable>
#include <csignal>
#include <cstdio>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "CLI/CLI.hpp"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "tests/workloads/population.h"
#include "tests/workloads/report.h"
#include "tests/workloads/writer_loop.h"

namespace mempulse {
namespace {

volatile std::sig_atomic_t stop_requested = 0;

void RequestStop(int) { stop_requested = 1; }

struct Flags {
  std::string tiers = "hot,20khz,800hz,warm,cool,0.2hz,cold";
  std::vector<std::string> extras;
  double duration_seconds = 0;
  double scale = 1;
  uint64_t total_pages = 0;
  int threads = 0;
  std::string pid_file;
  std::string report_file;
  bool print = false;
  WriterLoop::Options loop;
};

void AddFlags(CLI::App* app, Flags* flags) {
  app->add_option("--tiers", flags->tiers, "Populations, comma-separated")->capture_default_str();
  app->add_option("--extra", flags->extras, "One more population, HERTZxPAGES (repeatable)");
  app->add_option("--duration", flags->duration_seconds, "Seconds to run; 0 runs until SIGINT or SIGTERM")
      ->capture_default_str();
  app->add_option("--scale", flags->scale, "Factor on every rate")
      ->capture_default_str()
      ->check(CLI::PositiveNumber);
  app->add_option("--total-pages", flags->total_pages, "Fill up with pages written once to this number");
  app->add_option("--threads", flags->threads, "Idle threads beside the writing one")
      ->check(CLI::Range(0, 4096));
  app->add_option("--pid-file", flags->pid_file, "Written once every page is there");
  app->add_option("--report", flags->report_file,
                  "JSON of the achieved rates, replaced every second and at the end");
  app->add_flag("--print", flags->print, "The same as a table on standard output");
  app->add_flag("--restore", flags->loop.restores, "Undo each write at once: no content ever changes");
  app->add_flag("--sleep", flags->loop.sleeps,
                "Sleep between due times instead of spinning (without tier hot)");
}

absl::StatusOr<std::vector<Population>> ChoosePopulations(const Flags& flags) {
  auto populations = ParseTiers(flags.tiers);
  if (!populations.ok()) return populations;
  for (const std::string& text : flags.extras) {
    auto extra = ParseExtra(text);
    if (!extra.ok()) return extra.status();
    populations->push_back(*std::move(extra));
  }
  uint64_t pages = 0;
  for (Population& population : *populations) {
    population.hertz *= flags.scale;
    pages += population.pages;
  }
  if (flags.total_pages > pages) populations->push_back({"filler", 0, flags.total_pages - pages});
  return populations;
}

void Publish(const WorkloadReport& report, const Flags& flags) {
  if (flags.print) {
    std::fputs(ReportTable(report).c_str(), stdout);
    std::fflush(stdout);
  }
  if (flags.report_file.empty()) return;
  const absl::Status replaced = ReplaceFile(flags.report_file, ReportJson(report));
  if (!replaced.ok()) std::fprintf(stderr, "mempulse_demo: %s\n", replaced.ToString().c_str());
}

std::vector<std::jthread> StartIdleThreads(int count) {
  std::vector<std::jthread> threads;
  threads.reserve(static_cast<size_t>(count));
  for (int i = 0; i < count; ++i) {
    threads.emplace_back([](const std::stop_token& stop) {
      std::mutex mutex;
      std::condition_variable_any wake;
      std::unique_lock lock(mutex);
      wake.wait(lock, stop, [] { return false; });
    });
  }
  return threads;
}

int Run(Flags flags) {
  const auto fail = [](const absl::Status& status) {
    std::fprintf(stderr, "mempulse_demo: %s\n", std::string(status.message()).c_str());
    return 1;
  };
  auto populations = ChoosePopulations(flags);
  if (!populations.ok()) return fail(populations.status());
  if (flags.duration_seconds > 0) flags.loop.duration = absl::Seconds(flags.duration_seconds);
  flags.loop.report = [&flags](const WorkloadReport& report) { Publish(report, flags); };
  auto loop = WriterLoop::Create(*std::move(populations), flags.loop);
  if (!loop.ok()) return fail(loop.status());

  sigset_t stops;
  sigemptyset(&stops);
  sigaddset(&stops, SIGINT);
  sigaddset(&stops, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &stops,
                  nullptr);  // the idle threads inherit this: the writing thread gets the signal
  const std::vector<std::jthread> idle = StartIdleThreads(flags.threads);
  std::signal(SIGINT, RequestStop);
  std::signal(SIGTERM, RequestStop);
  pthread_sigmask(SIG_UNBLOCK, &stops, nullptr);

  if (!flags.pid_file.empty()) {
    const absl::Status written = ReplaceFile(flags.pid_file, absl::StrCat(getpid(), "\n"));
    if (!written.ok()) return fail(written);
  }
  loop->Run(stop_requested);
  return 0;
}

}  // namespace
}  // namespace mempulse

int main(int argc, char** argv) {
  CLI::App app("Writes its own pages at known rates and reports the rates it reached.", "mempulse_demo");
  mempulse::Flags flags;
  mempulse::AddFlags(&app, &flags);
  CLI11_PARSE(app, argc, argv);
  return mempulse::Run(std::move(flags));
}
