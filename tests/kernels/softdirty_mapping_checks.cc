#include "tests/kernels/softdirty_mapping_checks.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "collectors/pages/range_set.h"
#include "tests/kernels/puppet.h"

namespace mempulse {
namespace {

constexpr uint64_t kPages = 32;  // of the old mapping
constexpr uint64_t kLooksUntilTrust = 3;

uint64_t At(uint64_t page) { return Puppet::kArea + page * kPageSize; }
PageRange Pages(uint64_t from, uint64_t count) { return {At(from), At(from + count)}; }

struct Scenario {
  std::string name;
  std::function<void(Puppet&)> act;
  std::vector<PageRange> written;  // by act, of the old pages
  // Whether the look after it has to be trusted; else it may be discarded.
  bool stays_trusted = false;
  // How the old mapping is made; pages 0 to kPages - 1 of the area.
  std::function<void(Puppet&)> prepare = [](Puppet& puppet) {
    puppet.Map(At(0), kPages);
    puppet.Write(At(0), kPages);
  };
  CoverOptions options = {};
  uint64_t last_write = 5;  // an old page that is there after act
};

std::string ExpectLook(Watch* watch, const std::vector<PageRange>& written, bool must_be_trusted,
                       const char* when) {
  const Watch::Answer answer = watch->Look();
  if (!answer.trusted) return must_be_trusted ? absl::StrCat(when, ": not trusted; ") : "";
  const std::vector<PageRange> expected = MergeRanges(written);
  if (answer.written == expected) return "";
  return absl::StrCat(when, ": read ", TextOf(answer.written), ", true ", TextOf(expected), "; ");
}

std::string Play(const Scenario& scenario, const Subject& subject) {
  Puppet puppet;
  scenario.prepare(puppet);
  Watch watch(subject, puppet.pid());
  const Coverage coverage = watch.Begin(Pages(0, kPages), scenario.options);
  if (coverage.pages == 0 || coverage.ranges.empty()) return "nothing was covered; ";
  std::string problems = ExpectLook(&watch, {}, true, "at rest");
  puppet.Write(At(3));
  absl::StrAppend(&problems, ExpectLook(&watch, {Pages(3, 1)}, true, "one write"));
  scenario.act(puppet);
  absl::StrAppend(&problems, ExpectLook(&watch, scenario.written, scenario.stays_trusted, "after it"));
  for (uint64_t look = 1; look < kLooksUntilTrust; ++look) {
    absl::StrAppend(&problems, ExpectLook(&watch, {}, false, "at rest after it"));
  }
  puppet.Write(At(scenario.last_write));
  absl::StrAppend(&problems, ExpectLook(&watch, {Pages(scenario.last_write, 1)}, true, "a write after it"));
  return problems;
}

std::vector<Scenario> JoiningScenarios() {
  std::vector<Scenario> all;
  all.push_back({"a mapping elsewhere",
                 [](Puppet& puppet) {
                   puppet.Map(At(1000), 8);
                   puppet.Write(At(1000), 8);
                 },
                 {},
                 true});
  all.push_back({"a mapping above joins", [](Puppet& puppet) { puppet.Map(At(kPages), 8); }, {}});
  all.push_back({"a mapping below joins", [](Puppet& puppet) { puppet.Map(At(0) - 8 * kPageSize, 8); }, {}});
  all.push_back({"a mapping joins and is written",
                 [](Puppet& puppet) {
                   puppet.Map(At(kPages), 8);
                   puppet.Write(At(kPages), 8);
                   puppet.Write(At(9));
                 },
                 {Pages(9, 1)}});
  const auto come_and_go = [](Puppet& puppet) {
    puppet.Map(At(kPages), 8);
    puppet.Unmap(At(kPages), 8);
  };
  all.push_back({"a mapping joins and goes in one window, every page present", come_and_go, {}});
  all.push_back({"a mapping joins and goes in one window, some pages absent", come_and_go, {}});
  all.back().prepare = [](Puppet& puppet) {
    puppet.Map(At(0), kPages);
    puppet.Write(At(0), kPages / 2);
  };
  all.push_back({"a joined mapping is protected like the old one",
                 [](Puppet& puppet) {
                   puppet.Map(At(kPages), 8, Puppet::Backing::kAnonymous);
                   puppet.Protect(At(kPages), 8, false);
                   puppet.Write(At(7));
                   puppet.Protect(At(kPages), 8, true);
                 },
                 {Pages(7, 1)}});
  return all;
}

std::vector<Scenario> PlainScenarios() {
  std::vector<Scenario> all;
  all.push_back({"mprotect of some pages and back",
                 [](Puppet& puppet) {
                   puppet.Protect(At(10), 4, false);
                   puppet.Protect(At(10), 4, true);
                 },
                 {},
                 true});
  all.push_back(
      {"mprotect of some pages", [](Puppet& puppet) { puppet.Protect(At(10), 4, false); }, {}, true});
  all.push_back({"MADV_DONTNEED, then read",
                 [](Puppet& puppet) {
                   puppet.Discard(At(8), 4);
                   puppet.Read(At(8), 4);
                 },
                 {},
                 true});
  all.push_back({"MADV_DONTNEED, then written",
                 [](Puppet& puppet) {
                   puppet.Discard(At(8), 4);
                   puppet.Write(At(9), 2);
                 },
                 {Pages(9, 2)},
                 true});
  return all;
}

std::vector<Scenario> MovingScenarios() {
  std::vector<Scenario> all;
  all.push_back(
      {"mremap grows it in place", [](Puppet& puppet) { puppet.Grow(At(0), kPages, kPages + 8); }, {}});
  all.push_back({"mremap moves half of it away",
                 [](Puppet& puppet) { puppet.Move(At(kPages / 2), kPages / 2, At(2000)); },
                 {},
                 true});
  all.push_back({"mremap moves other memory over it",
                 [](Puppet& puppet) {
                   puppet.Map(At(3000), 4);
                   puppet.Write(At(3000), 4);
                   puppet.Move(At(3000), 4, At(20));
                 },
                 {Pages(20, 4)}});  // what is at those addresses is something else now
  all.push_back({"a part is unmapped", [](Puppet& puppet) { puppet.Unmap(At(16), 4); }, {}, true});
  all.push_back({"a part is unmapped and mapped anew",
                 [](Puppet& puppet) {
                   puppet.Unmap(At(16), 4);
                   puppet.Map(At(16), 4);
                 },
                 {}});
  all.push_back({"a fork that ends", [](Puppet& puppet) { puppet.WriteInFork(At(0), 8); }, {}, true});
  all.push_back({"a fork, then the parent writes",
                 [](Puppet& puppet) {
                   puppet.WriteInFork(At(0), 8);
                   puppet.Write(At(4), 2);
                 },
                 {Pages(4, 2)},
                 true});
  return all;
}

Scenario Backed(std::string name, Puppet::Backing backing) {
  Scenario scenario;
  scenario.name = std::move(name);
  scenario.act = [](Puppet& puppet) { puppet.Write(At(6), 3); };
  scenario.written = {Pages(6, 3)};
  scenario.stays_trusted = true;
  scenario.prepare = [backing](Puppet& puppet) {
    puppet.Map(At(0), kPages, backing);
    puppet.Write(At(0), kPages);
  };
  scenario.options.include_shared = true;
  return scenario;
}

// The heap is where the kernel put it, so this one has addresses of its own.
std::string HeapGrows(const Subject& subject) {
  Puppet puppet;
  const uint64_t heap = puppet.Break(kPages);
  puppet.Write(heap, kPages);
  Watch watch(subject, puppet.pid());
  if (watch.Begin({heap, heap + kPages * kPageSize}).ranges.empty()) return "the heap was not covered; ";
  std::string problems = ExpectLook(&watch, {}, true, "at rest");
  const uint64_t more = puppet.Break(8);
  puppet.Write(more, 8);
  absl::StrAppend(&problems, ExpectLook(&watch, {}, false, "after sbrk"));
  for (uint64_t look = 1; look < kLooksUntilTrust; ++look) {
    absl::StrAppend(&problems, ExpectLook(&watch, {}, false, "at rest after sbrk"));
  }
  puppet.Write(heap + 2 * kPageSize);
  const PageRange written{heap + 2 * kPageSize, heap + 3 * kPageSize};
  return absl::StrCat(problems, ExpectLook(&watch, {written}, true, "a write after sbrk"));
}

// One write into a huge page dirties 512 pages: left alone and counted, or, where they are wanted, all of
// them.
std::string HugePages(const Subject& subject) {
  constexpr uint64_t kHuge = 512;
  Puppet puppet;
  puppet.Map(At(0), 2 * kHuge);
  puppet.AllowHugePages(At(0), kHuge);
  puppet.Write(At(0));
  puppet.Write(At(kHuge), 8);
  const PageRange area = Pages(0, 2 * kHuge);
  Watch watch(subject, puppet.pid());
  const Coverage coverage = watch.Begin(area);
  std::string problems;
  if (coverage.huge_pages_skipped < kHuge) return "the huge page was not seen; ";
  if (coverage.ranges != std::vector<PageRange>{Pages(kHuge, 8)}) {
    absl::StrAppend(&problems, "covered ", TextOf(coverage.ranges), "; ");
  }
  puppet.Write(At(7));
  puppet.Write(At(kHuge + 1));
  absl::StrAppend(&problems, ExpectLook(&watch, {Pages(kHuge + 1, 1)}, true, "huge pages left out"));
  CoverOptions options;
  options.include_huge = true;
  watch.Begin(area, options);
  absl::StrAppend(&problems, ExpectLook(&watch, {}, true, "huge pages at rest"));
  // A mapping that turns dirty as a whole is doubted once.
  for (const bool must_be_trusted : {false, true}) {
    puppet.Write(At(7));
    absl::StrAppend(&problems, ExpectLook(&watch, {Pages(0, kHuge)}, must_be_trusted, "huge pages wanted"));
  }
  return problems;
}

}  // namespace

std::string CollapsedPages(const Subject& subject, bool* declined) {
  constexpr uint64_t kHuge = 512;
  Puppet puppet;
  puppet.Map(At(0), kHuge);
  puppet.Write(At(0), kHuge);
  Watch watch(subject, puppet.pid());
  watch.Begin(Pages(0, kHuge));
  puppet.AllowHugePages(At(0), kHuge);
  *declined = !puppet.Collapse(At(0), kHuge);
  if (*declined) return "";
  puppet.Write(At(7));
  const Watch::Answer answer = watch.Look();
  const bool true_write = answer.written == std::vector<PageRange>{Pages(7, 1)};
  return !answer.trusted || true_write ? "" : absl::StrCat("trusted ", TextOf(answer.written), "; ");
}

std::vector<MappingCheck> MappingChecks() {
  std::vector<Scenario> scenarios = JoiningScenarios();
  for (const auto& more : {PlainScenarios(), MovingScenarios()}) {
    scenarios.insert(scenarios.end(), more.begin(), more.end());
  }
  scenarios.push_back(Backed("a private file", Puppet::Backing::kPrivateFile));
  scenarios.push_back(Backed("a shared file", Puppet::Backing::kSharedFile));
  scenarios.push_back(Backed("shared memory", Puppet::Backing::kShared));
  std::vector<MappingCheck> checks;
  for (Scenario& scenario : scenarios) {
    std::string name = scenario.name;
    checks.push_back({std::move(name), Guarded([scenario = std::move(scenario)](const Subject& subject) {
                        return Play(scenario, subject);
                      })});
  }
  const std::pair<const char*, std::string (*)(const Subject&)> others[] = {
      {"sbrk grows the heap", HeapGrows}, {"huge pages", HugePages}};
  for (const auto& [name, run] : others) checks.push_back({name, Guarded(run)});
  return checks;
}

}  // namespace mempulse
