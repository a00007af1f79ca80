#include "tests/workloads/report.h"

#include <fcntl.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "collectors/host/errno_status.h"
#include "collectors/host/unique_fd.h"

namespace mempulse {

std::string ReportJson(const WorkloadReport& report) {
  std::string json = absl::StrFormat(
      "{\"version\": 1, \"pid\": %d, \"monotonic_nanos\": %d, \"seconds\": %.6f, \"restores\": %s, "
      "\"tiers\": [\n",
      report.pid, report.monotonic_nanos, report.seconds, report.restores ? "true" : "false");
  const char* separator = "  ";
  for (const PopulationReport& tier : report.tiers) {
    const std::string nominal =
        std::isinf(tier.nominal_hertz) ? "null" : absl::StrFormat("%.9g", tier.nominal_hertz);
    absl::StrAppendFormat(
        &json,
        "%s{\"name\": \"%s\", \"nominal_hertz\": %s, \"address\": %d, \"pages\": %d, \"writes\": %d, "
        "\"missed\": %d, \"hertz_last\": %.9g, \"hertz_total\": %.9g}",
        separator, tier.name, nominal, tier.address, tier.pages, tier.writes, tier.missed, tier.hertz_last,
        tier.hertz_total);
    separator = ",\n  ";
  }
  absl::StrAppend(&json, "\n]}\n");
  return json;
}

std::string ReportTable(const WorkloadReport& report) {
  std::string table =
      absl::StrFormat("pid %d, %.1f s\n%-16s %-14s %9s %14s %14s %8s\n", report.pid, report.seconds, "tier",
                      "address", "pages", "hertz (last)", "hertz (total)", "missed");
  for (const PopulationReport& tier : report.tiers) {
    absl::StrAppendFormat(&table, "%-16s %-14x %9d %14.3f %14.3f %8d\n", tier.name, tier.address, tier.pages,
                          tier.hertz_last, tier.hertz_total, tier.missed);
  }
  return table;
}

absl::Status ReplaceFile(const std::string& path, const std::string& text) {
  const std::string temporary = absl::StrCat(path, ".new");
  {
    const UniqueFd fd(open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
    if (!fd.valid()) return ErrnoStatus("open", temporary);
    if (write(fd.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size())) {
      return ErrnoStatus("write", temporary);
    }
  }
  if (rename(temporary.c_str(), path.c_str()) != 0) return ErrnoStatus("rename", path);
  return absl::OkStatus();
}

}  // namespace mempulse
