#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "exporter/ctl/doctor_facts.h"

// What the operator reads: from facts to text, no system call.
namespace mempulse {

// One thing that works or does not. Where it does not, reason, detail and remedy say why and what would help.
struct DoctorRow {
  std::string name;
  bool works = false;
  std::string reason;
  std::string detail;
  std::string remedy;
};

std::vector<DoctorRow> MechanismRows(const std::vector<TrackerSupport>& mechanisms);
// maps, smaps, pagemap, mem, clear_refs, attach and frames (page frame numbers, which no tracker needs).
std::vector<DoctorRow> AccessRows(const TargetAccess& access);

// At least one mechanism works, on the target where one was given.
bool DoctorFoundTracker(const DoctorFacts& facts);

// A table for people, lines ending in "\n", no colour. Names of processes are escaped.
std::string DoctorTable(const DoctorFacts& facts);

// {"kernel": {...}, "user": {...}, "capabilities": [...], "limits": {...}, "mechanisms": [rows], "target":
// {...}}; no "target" where none was given. Valid UTF-8 whatever the process is called.
nlohmann::ordered_json DoctorJson(const DoctorFacts& facts);

}  // namespace mempulse
