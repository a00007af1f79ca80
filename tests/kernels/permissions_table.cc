#include "tests/kernels/permissions_table.h"

#include <cstdio>
#include <fstream>
#include <iterator>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "tests/kernels/guest_kernel.h"

namespace mempulse {
namespace {

constexpr size_t kFirstCell = 4;

// "all", "before 6.18" or "from 6.18".
bool IsForKernel(const std::string& kernels, const GuestKernel& kernel) {
  int major = 0;
  int minor = 0;
  if (std::sscanf(kernels.c_str(), "before %d.%d", &major, &minor) == 2) return !kernel.AtLeast(major, minor);
  if (std::sscanf(kernels.c_str(), "from %d.%d", &major, &minor) == 2) return kernel.AtLeast(major, minor);
  return kernels == "all";
}

PermissionsRow ParseRow(const std::vector<std::string>& fields, const GuestKernel& kernel) {
  PermissionsRow row;
  row.problem = absl::StrCat(ParseTarget(fields[2], &row.condition), ParseExporter(fields[1], &row.condition),
                             ParseSettings(fields[3], &row.condition));
  row.name = absl::StrCat(fields[1], " on ", fields[2], " ", fields[3]);
  for (size_t i = 0; i < std::size(kCells); ++i) row.expected[kCells[i]] = fields[kFirstCell + i];
  // Whoever asks: the mechanism does not exist there.
  if (!kernel.has_wp_async()) row.expected["writeprotect"] = "kernel";
  return row;
}

}  // namespace

std::vector<PermissionsRow> ReadPermissionsTable() {
  const GuestKernel kernel = ReadGuestKernel();
  std::vector<PermissionsRow> rows;
  std::ifstream file(MEMPULSE_SOURCE_DIR "/tests/kernels/data/permissions.tsv");
  std::string line;
  while (std::getline(file, line)) {
    if (line.empty() || line[0] == '#') continue;
    const std::vector<std::string> fields = absl::StrSplit(line, '\t');
    if (fields.size() != kFirstCell + std::size(kCells)) {
      rows.push_back({});
      rows.back().problem = absl::StrCat("fields: ", line);
    } else if (IsForKernel(fields[0], kernel)) {
      rows.push_back(ParseRow(fields, kernel));
    }
  }
  return rows;
}

}  // namespace mempulse
