#include "exporter/ctl/live_target.h"

#include <cstdio>
#include <utility>

#include "absl/strings/str_cat.h"
#include "collectors/host/process_cpu.h"
#include "collectors/pages/sweep_regions.h"

namespace mempulse {

void PrintRefusals(const std::vector<TrackerSupport>& support) {
  for (const TrackerSupport& one : support) {
    if (one.supported) continue;
    std::fprintf(stderr, "%s refused (%s): %s%s%s\n", std::string(TrackerKindName(one.kind)).c_str(),
                 one.reason.c_str(), one.detail.c_str(), one.remedy.empty() ? "" : "; ", one.remedy.c_str());
  }
}

absl::StatusOr<std::unique_ptr<LiveTarget>> LiveTarget::Open(const Host& host, int pid, TrackerChoice tracker,
                                                             bool attach,
                                                             std::vector<TrackerSupport>* support) {
  absl::StatusOr<ProcessFacts> facts = ReadProcessFacts(host, pid);
  if (!facts.ok()) {
    return absl::Status(facts.status().code(),
                        absl::StrCat("no process ", pid, ": ", facts.status().message()));
  }
  absl::StatusOr<Target> target = Target::Open(host, *std::move(facts));
  if (!target.ok()) return target.status();
  std::unique_ptr<LiveTarget> live(new LiveTarget(host, *std::move(target)));
  absl::StatusOr<ChosenTracker> chosen =
      OpenTracker(host, live->target_, ProbeTrackers(host), tracker,
                  AttachTerms{attach ? AttachChoice::kInject : AttachChoice::kNever, nullptr});
  if (!chosen.ok()) return chosen.status();
  *support = std::move(chosen->support);
  if (chosen->tracker == nullptr) {
    return absl::UnavailableError(
        absl::StrCat("no page tracker works on pid ", pid, "; see mempulsectl doctor ", pid));
  }
  live->tracker_ = std::move(chosen->tracker);
  if (absl::StatusOr<std::unique_ptr<PageContent>> content = PageContent::Open(host, pid); content.ok()) {
    live->content_ = *std::move(content);
  }
  SweepTarget door;
  door.mappings = [&host, pid] {
    bool truncated = false;
    return ReadMappings(host, pid, &truncated);
  };
  door.cpu_nanos = [pid] { return ProcessCpuNanos(pid); };
  if (live->content_ != nullptr) {
    PageContent* const content = live->content_.get();
    door.hash_pages = [content](absl::Span<const PageRange> ranges) { return content->Hash(ranges); };
  }
  live->sweep_ = std::make_unique<Sweep>(*live->tracker_, live->clock_, std::move(door));
  return live;
}

std::string LiveTarget::BuildId() {
  bool truncated = false;
  const absl::StatusOr<std::vector<Mapping>> mappings = ReadMappings(host_, target_.pid(), &truncated);
  if (!mappings.ok()) return "";
  for (const Mapping& mapping : *mappings) {
    if (mapping.inode != 0 && mapping.name == facts().exe) return build_ids_.Of(target_.pid(), mapping);
  }
  return "";
}

absl::StatusOr<Sweep::Result> LiveTarget::Run(const SweepRequest& request, const std::stop_token& stop) {
  absl::StatusOr<Sweep::Result> result = sweep_->Run(request, stop);
  if (!result.ok()) return result;
  for (SweepRegion& region : result->sample.regions) {
    if (region.inode != 0) region.build_id = build_ids_.Of(target_.pid(), MappingOf(region));
  }
  return result;
}

}  // namespace mempulse
