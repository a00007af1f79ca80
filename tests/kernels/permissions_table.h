#pragma once

#include <map>
#include <string>
#include <vector>

#include "tests/kernels/condition.h"

namespace mempulse {

// What doctor is asked of a target, in the order of the table's columns: the mechanisms first.
inline constexpr const char* kCells[] = {"writeprotect", "softdirty", "hashdiff",   "maps",  "smaps",
                                         "pagemap",      "mem",       "clear_refs", "attach"};

struct PermissionsRow {
  std::string name;
  std::string problem;  // of the table itself
  Condition condition;
  std::map<std::string, std::string> expected;  // "yes" or the reason, by cell
};

// The rows of permissions.tsv that hold for the running kernel.
std::vector<PermissionsRow> ReadPermissionsTable();

}  // namespace mempulse
