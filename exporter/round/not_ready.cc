#include "exporter/round/not_ready.h"

#include <map>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"

namespace mempulse {
namespace {

std::string Processes(size_t count) { return absl::StrCat(count, count == 1 ? " process" : " processes"); }

// One mechanism that was refused for one reason.
struct Refusal {
  size_t processes = 0;
  std::string example;  // the process that detail and remedy are of
  TrackerSupport support;
};

std::string Line(const std::string& group, const Refusal& refusal) {
  std::string text = absl::StrCat(group, ": ", TrackerKindName(refusal.support.kind), " does not work on ",
                                  Processes(refusal.processes), " (", refusal.support.reason, "), e.g. ",
                                  refusal.example, ": ", refusal.support.detail);
  if (!refusal.support.remedy.empty()) absl::StrAppend(&text, ". Remedy: ", refusal.support.remedy);
  return text;
}

}  // namespace

std::string DescribeNotReady(const std::vector<GroupReport>& refused) {
  size_t processes = 0;
  std::string lines;
  for (const GroupReport& group : refused) {
    std::map<std::pair<TrackerKind, std::string>, Refusal> refusals;
    for (const ProcessReport& process : group.processes) {
      ++processes;
      for (const TrackerSupport& support : process.support) {
        Refusal& refusal = refusals[{support.kind, support.reason}];
        if (refusal.processes++ > 0) continue;
        refusal.example = absl::StrCat(absl::CHexEscape(process.comm), " (pid ", process.id.pid, ")");
        refusal.support = support;
      }
    }
    for (const auto& [key, refusal] : refusals) absl::StrAppend(&lines, "\n", Line(group.name, refusal));
  }
  if (processes == 0) return "";
  return absl::StrCat("no page tracker works on ",
                      processes == 1 ? "the one process that was found"
                                     : absl::StrCat("any of the ", Processes(processes), " that were found"),
                      lines);
}

}  // namespace mempulse
