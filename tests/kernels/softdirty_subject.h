#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "collectors/host/host.h"
#include "collectors/pages/page_tracker.h"
#include "collectors/pages/softdirty_kernel.h"
#include "collectors/targets/target.h"

namespace mempulse {

// What a check examines: the soft-dirty tracker as it is, or one that was broken on purpose.
struct Subject {
  using Wrap = std::function<std::unique_ptr<SoftDirtyKernel>(std::unique_ptr<SoftDirtyKernel>)>;
  std::string name = "the tracker";
  Wrap wrap;  // between the tracker and the kernel; none: the tracker as it is
  bool ignores_jitter = false;
  bool trusts_every_look = false;
};

// A check of a subject: an empty text when everything is as it should be, else what is not. Checks never use
// GoogleTest's assertions, so that a broken tracker can be shown to fail them.
using Check = std::function<std::string(const Subject&)>;

// The same check; an exception that it throws becomes its text.
Check Guarded(Check check);

// A tracker on a live process, with the rule by which a sweep trusts a look. Calls that fail throw
// std::runtime_error.
class Watch {
 public:
  Watch(const Subject& subject, pid_t pid);

  PageTracker& tracker() { return *tracker_; }
  const Target& target() const { return target_; }

  // Covers the process as it is now and keeps the covered pages inside `area`; resets.
  Coverage Begin(PageRange area, const CoverOptions& options = {});

  struct Answer {
    std::vector<PageRange> written;
    bool trusted = true;
  };
  Answer Look();

 private:
  Host host_;
  Target target_;
  bool trusts_every_look_;
  std::unique_ptr<PageTracker> tracker_;
  std::vector<PageRange> ranges_;
};

// The kernel of the subject on a process; `inside` comes between the real one and what breaks it.
std::unique_ptr<SoftDirtyKernel> OpenKernelOf(const Subject& subject, const Host& host, const Target& target,
                                              const Subject::Wrap& inside = nullptr);
Target OpenTarget(const Host& host, pid_t pid);

// "0x1000-0x3000 0x8000-0x9000", for messages.
std::string TextOf(absl::Span<const PageRange> ranges);

}  // namespace mempulse
