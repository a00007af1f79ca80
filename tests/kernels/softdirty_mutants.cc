#include "tests/kernels/softdirty_mutants.h"

#include <fcntl.h>
#include <unistd.h>

#include <utility>

#include "collectors/host/unique_fd.h"
#include "collectors/pages/pagemap.h"
#include "tests/kernels/forwarding_softdirty.h"
#include "tests/kernels/puppet.h"
#include "tests/kernels/softdirty_foreign_checks.h"
#include "tests/kernels/softdirty_mapping_checks.h"
#include "tests/kernels/softdirty_rate_checks.h"

namespace mempulse {
namespace {

// ---- entries that are not what the kernel said ----

class ChangedEntries final : public ForwardingSoftDirty {
 public:
  using Change = std::function<void(uint64_t start, absl::Span<uint64_t> entries)>;
  ChangedEntries(std::unique_ptr<SoftDirtyKernel> kernel, Change change)
      : ForwardingSoftDirty(std::move(kernel)), change_(std::move(change)) {}
  absl::Status ReadEntries(uint64_t start, absl::Span<uint64_t> entries) override {
    absl::Status status = ForwardingSoftDirty::ReadEntries(start, entries);
    change_(start, entries);
    return status;
  }
  bool scans() const override { return false; }

 private:
  Change change_;
};

Subject::Wrap Changing(ChangedEntries::Change change) {
  return [change = std::move(change)](std::unique_ptr<SoftDirtyKernel> kernel) {
    return std::make_unique<ChangedEntries>(std::move(kernel), change);
  };
}

void NeverSet(uint64_t, absl::Span<uint64_t> entries) {
  for (uint64_t& entry : entries) entry &= ~kEntrySoftDirty;
}
void AlwaysSet(uint64_t, absl::Span<uint64_t> entries) {
  for (uint64_t& entry : entries) entry |= kEntrySoftDirty;
}
void LastOneLost(uint64_t, absl::Span<uint64_t> entries) {
  if (entries.size() > 1) entries.back() &= ~kEntrySoftDirty;
}
void UpperHalfStays(uint64_t start, absl::Span<uint64_t> entries) {
  constexpr uint64_t kHalf = Puppet::kArea + 16 * kPageSize;
  for (size_t i = 0; i < entries.size(); ++i) {
    if (start + i * kPageSize >= kHalf && (entries[i] & kEntryPresent) != 0) entries[i] |= kEntrySoftDirty;
  }
}
// Marks and witnesses are read page by page.
void LonePagesAreClean(uint64_t, absl::Span<uint64_t> entries) {
  if (entries.size() == 1) entries[0] &= ~kEntrySoftDirty;
}
void NobodyOwnsPages(uint64_t, absl::Span<uint64_t> entries) {
  for (uint64_t& entry : entries) entry &= ~kEntryExclusive;
}

class NextPage final : public ForwardingSoftDirty {
 public:
  using ForwardingSoftDirty::ForwardingSoftDirty;
  absl::Status ReadEntries(uint64_t start, absl::Span<uint64_t> entries) override {
    return ForwardingSoftDirty::ReadEntries(start + kPageSize, entries);
  }
};

// ---- clears that do not happen, or elsewhere ----

class LostClears final : public ForwardingSoftDirty {
 public:
  LostClears(std::unique_ptr<SoftDirtyKernel> kernel, int kept_of)
      : ForwardingSoftDirty(std::move(kernel)), kept_of_(kept_of) {}
  absl::Status Clear() override {
    const bool kept = kept_of_ > 0 && ++clears_ % kept_of_ == 0;
    return kept ? ForwardingSoftDirty::Clear() : absl::OkStatus();
  }

 private:
  int kept_of_;  // 0: none is kept
  int clears_ = 0;
};

Subject::Wrap LosingClears(int kept_of) {
  return [kept_of](std::unique_ptr<SoftDirtyKernel> kernel) {
    return std::make_unique<LostClears>(std::move(kernel), kept_of);
  };
}

class ClearsItself final : public ForwardingSoftDirty {
 public:
  using ForwardingSoftDirty::ForwardingSoftDirty;
  absl::Status Clear() override {
    const UniqueFd fd(open("/proc/self/clear_refs", O_WRONLY | O_CLOEXEC));
    return write(fd.get(), "4", 1) == 1 ? absl::OkStatus() : absl::InternalError("clear_refs");
  }
};

class ClearsTwice final : public ForwardingSoftDirty {
 public:
  using ForwardingSoftDirty::ForwardingSoftDirty;
  // Another clear comes with the look that ends the window: before its first read.
  absl::Status ReadEntries(uint64_t start, absl::Span<uint64_t> entries) override {
    if (entries.size() > 1) {
      if (absl::Status status = ForwardingSoftDirty::Clear(); !status.ok()) return status;
    }
    return ForwardingSoftDirty::ReadEntries(start, entries);
  }
  bool scans() const override { return false; }
};

// ---- the rest ----

class EmptyScans final : public ForwardingSoftDirty {
 public:
  using ForwardingSoftDirty::ForwardingSoftDirty;
  absl::Status ScanDirty(const PageRange&, std::vector<PageRange>*) override { return absl::OkStatus(); }
};

class NoHugePages final : public ForwardingSoftDirty {
 public:
  using ForwardingSoftDirty::ForwardingSoftDirty;
  absl::StatusOr<PresentPages> FindPresent(const Mapping& mapping) override {
    absl::StatusOr<PresentPages> present = ForwardingSoftDirty::FindPresent(mapping);
    if (present.ok() && !present->huge.empty()) std::swap(present->base, present->huge);
    return present;
  }
};

template <typename Kernel>
Subject::Wrap WrappedIn() {
  return [](std::unique_ptr<SoftDirtyKernel> kernel) { return std::make_unique<Kernel>(std::move(kernel)); };
}

std::string SomeTiers(const Subject& subject) { return CheckTiers(subject, 3); }
std::string ForeignClears(const Subject& subject) { return CheckForeignClears(subject); }

std::string MappingsNamed(const std::string& name, const Subject& subject) {
  std::string problems;
  for (const MappingCheck& check : MappingChecks()) {
    if (check.name == name) problems += check.run(subject);
  }
  return problems;
}

Mutant Broken(std::string name, Subject::Wrap wrap, std::string check_name, Check check) {
  Mutant mutant;
  mutant.subject.name = std::move(name);
  mutant.subject.wrap = std::move(wrap);
  mutant.check_name = std::move(check_name);
  mutant.check = Guarded(std::move(check));
  return mutant;
}

Mutant BrokenForMapping(std::string name, Subject::Wrap wrap, const std::string& mapping) {
  const auto check = [mapping](const Subject& subject) { return MappingsNamed(mapping, subject); };
  return Broken(std::move(name), std::move(wrap), mapping, check);
}

}  // namespace

std::vector<Mutant> Mutants() {
  std::vector<Mutant> all;
  all.push_back(Broken("the bit is never set", Changing(NeverSet), "tiers", SomeTiers));
  all.push_back(Broken("the bit is always set", Changing(AlwaysSet), "tiers", SomeTiers));
  all.push_back(Broken("every clear is lost", LosingClears(0), "tiers", SomeTiers));
  all.push_back(Broken("every second clear is lost", LosingClears(2), "tiers", SomeTiers));
  all.push_back(Broken("another process is cleared", WrappedIn<ClearsItself>(), "tiers", SomeTiers));
  all.push_back(Broken("a clear before the look", WrappedIn<ClearsTwice>(), "tiers", SomeTiers));
  all.push_back(Broken("the jitter is ignored", nullptr, "phase lock", CheckPhaseLock));
  all.back().subject.ignores_jitter = true;
  all.push_back(BrokenForMapping("half of the range is not cleared", Changing(UpperHalfStays),
                                 "mprotect of some pages"));
  all.push_back(
      BrokenForMapping("entries of the next page", WrappedIn<NextPage>(), "mprotect of some pages"));
  all.push_back(
      Broken("the last page of a read is lost", Changing(LastOneLost), "large mappings", CheckLargeMapping));
  all.push_back(Broken("scans find nothing", WrappedIn<EmptyScans>(), "large mappings", CheckLargeMapping));
  all.back().needs_scan = true;
  all.push_back(BrokenForMapping("marks of a merge are not seen", Changing(LonePagesAreClean),
                                 "a mapping joins and goes in one window, every page present"));
  all.push_back(BrokenForMapping("every look is trusted", nullptr, "sbrk grows the heap"));
  all.back().subject.trusts_every_look = true;
  all.push_back(
      BrokenForMapping("huge pages are taken for base pages", WrappedIn<NoHugePages>(), "huge pages"));
  all.push_back(
      Broken("foreign clears are not seen", Changing(NobodyOwnsPages), "foreign clears", ForeignClears));
  return all;
}

}  // namespace mempulse
