#include "config/cross_checks.h"

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "config/units.h"

namespace mempulse {
namespace {

using Windows = std::vector<absl::Duration>;

std::string Listed(const Windows& windows) {
  return absl::StrJoin(windows, ", ",
                       [](std::string* out, absl::Duration window) { out->append(DurationText(window)); });
}

void CheckOrder(const Windows& windows, const std::string& path, const KeyLines& lines,
                ProblemList& problems) {
  for (size_t i = 1; i < windows.size(); ++i) {
    if (windows[i] < windows[i - 1]) continue;
    const std::string item = absl::StrCat(path, "[", i, "]");
    problems.AddValue(lines.Of(item), item,
                      absl::StrCat(DurationText(windows[i]), " follows ", DurationText(windows[i - 1]),
                                   "; list the longest first"));
  }
}

void CheckLadder(const SweepOptions& sweep, const std::string& path, const KeyLines& lines,
                 ProblemList& problems) {
  const std::string fine = path + ".fine_windows";
  const std::string coarse = path + ".windows";
  if (sweep.fine_windows.empty() || sweep.fine_windows.front() < sweep.windows.back()) return;
  const bool given = lines.Has(fine);
  problems.AddValue(
      lines.Of(given ? fine : coarse), fine,
      absl::StrCat(DurationText(sweep.fine_windows.front()), given ? "" : " (not given here)",
                   " is not shorter than the last of windows (", DurationText(sweep.windows.back()), ")",
                   given ? "" : "; give fine_windows too, [] for none"));
}

void CheckCeiling(const SweepOptions& sweep, const std::string& path, const KeyLines& lines,
                  ProblemList& problems) {
  const std::string ceiling = path + ".ceiling_window";
  if (std::find(sweep.windows.begin(), sweep.windows.end(), sweep.ceiling_window) != sweep.windows.end())
    return;
  const bool given = lines.Has(ceiling);
  problems.AddValue(lines.Of(given ? ceiling : path + ".windows"), ceiling,
                    absl::StrCat(DurationText(sweep.ceiling_window), given ? "" : " (not given here)",
                                 " is none of windows (", Listed(sweep.windows), ")",
                                 given ? "" : "; give ceiling_window too"));
}

void CheckSweep(const SweepOptions& sweep, const std::string& path, const KeyLines& lines,
                ProblemList& problems) {
  if (!lines.Has(path) || problems.Touches(path)) return;
  CheckOrder(sweep.windows, path + ".windows", lines, problems);
  CheckOrder(sweep.fine_windows, path + ".fine_windows", lines, problems);
  if (problems.Touches(path)) return;
  CheckLadder(sweep, path, lines, problems);
  CheckCeiling(sweep, path, lines, problems);
}

void CheckGroup(const TargetGroupOptions& group, const std::string& path, const KeyLines& lines,
                ProblemList& problems) {
  // A group inherits the file's sweep; what is wrong there is told there.
  if (!problems.Touches("sweep")) CheckSweep(group.sweep, path + ".sweep", lines, problems);
  const std::string tracker = path + ".tracker";
  if (group.tracker == TrackerChoice::kWriteProtect && group.attach == AttachChoice::kNever &&
      !problems.Touches(path + ".attach")) {
    problems.AddValue(lines.Of(tracker), tracker,
                      "writeprotect puts a userfaultfd into the target; allow it with \"attach: true\"");
  }
}

}  // namespace

void CheckAcrossKeys(const Options& options, const KeyLines& lines, ProblemList& problems) {
  CheckSweep(options.sweep, "sweep", lines, problems);
  std::map<std::string, size_t> names;
  for (size_t i = 0; i < options.targets.size(); ++i) {
    const TargetGroupOptions& group = options.targets[i];
    const std::string path = absl::StrCat("targets[", i, "]");
    CheckGroup(group, path, lines, problems);
    if (group.attach == AttachChoice::kCooperative && options.attach_socket.empty() &&
        !problems.Touches("attach_socket")) {
      problems.AddValue(lines.Of(path + ".attach"), path + ".attach",
                        "cooperative needs the socket on which targets offer; give \"attach_socket\"");
    }
    if (group.name.empty()) continue;
    if (const auto [first, fresh] = names.emplace(group.name, i); !fresh) {
      problems.AddValue(
          lines.Of(path + ".name"), path + ".name",
          absl::StrCat("\"", group.name, "\" is also the name of targets[", first->second, "]"));
    }
  }
}

}  // namespace mempulse
