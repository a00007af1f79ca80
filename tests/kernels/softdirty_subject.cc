#include "tests/kernels/softdirty_subject.h"

#include <exception>
#include <stdexcept>
#include <utility>

#include "absl/strings/str_cat.h"
#include "collectors/pages/range_set.h"
#include "collectors/pages/softdirty_tracker.h"

namespace mempulse {
namespace {

template <typename T>
T ValueOf(absl::StatusOr<T> result) {
  if (!result.ok()) throw std::runtime_error(std::string(result.status().message()));
  return *std::move(result);
}

}  // namespace

Check Guarded(Check check) {
  return [check = std::move(check)](const Subject& subject) -> std::string {
    try {
      return check(subject);
    } catch (const std::exception& error) {
      return absl::StrCat("stopped: ", error.what());
    }
  };
}

Target OpenTarget(const Host& host, pid_t pid) {
  return ValueOf(Target::Open(host, ValueOf(ReadProcessFacts(host, pid))));
}

std::unique_ptr<SoftDirtyKernel> OpenKernelOf(const Subject& subject, const Host& host, const Target& target,
                                              const Subject::Wrap& inside) {
  std::unique_ptr<SoftDirtyKernel> kernel = ValueOf(OpenSoftDirtyKernel(host, target));
  for (const Subject::Wrap* wrap : {&inside, &subject.wrap}) {
    if (*wrap != nullptr) kernel = (*wrap)(std::move(kernel));
  }
  return kernel;
}

Watch::Watch(const Subject& subject, pid_t pid)
    : target_(OpenTarget(host_, pid)),
      trusts_every_look_(subject.trusts_every_look),
      tracker_(MakeSoftDirtyTracker(OpenKernelOf(subject, host_, target_))) {}

Coverage Watch::Begin(PageRange area, const CoverOptions& options) {
  bool truncated = false;
  const std::vector<Mapping> mappings = ValueOf(ReadMappings(host_, target_.pid(), &truncated));
  Coverage coverage = ValueOf(tracker_->Cover(mappings, options));
  ranges_ = coverage.ranges = IntersectRanges(coverage.ranges, {area});
  ValueOf(tracker_->Reset(ranges_));
  return coverage;
}

Watch::Answer Watch::Look() {
  Answer answer;
  Instant reset;
  ValueOf(tracker_->LookAndReset(ranges_, &answer.written, &reset));
  const bool doubted = !IntersectRanges(answer.written, MergeRanges(tracker_->Distrusted())).empty();
  answer.trusted = trusts_every_look_ || !(doubted || tracker_->LookSpoiled());
  answer.written = MergeRanges(std::move(answer.written));
  return answer;
}

std::string TextOf(absl::Span<const PageRange> ranges) {
  std::string text;
  for (const PageRange& range : ranges) {
    absl::StrAppend(&text, text.empty() ? "" : " ", "0x", absl::Hex(range.start), "-0x",
                    absl::Hex(range.end));
  }
  return text.empty() ? "none" : text;
}

}  // namespace mempulse
