#include "exporter/baseline/baseline_codec.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "exporter/baseline/rate_steps.h"
#include "exporter/files/field_bytes.h"
#include "exporter/files/packed_bytes.h"

namespace mempulse {
namespace {

constexpr FileForm kForm = {"MPBASE", 1, uint64_t{64} << 20, "baseline",
                            "learn it again, or use the mempulsectl of the version that wrote it"};
constexpr uint64_t kMostRuns = 100'000;
constexpr uint64_t kMostObjects = 10'000;
constexpr uint64_t kMostIdentities = 1 << 20;
constexpr uint64_t kMostWindows = 64;
constexpr uint64_t kMostPagesOfCurve = uint64_t{1} << 40;

// Small numbers of either sign become small numbers.
uint64_t ZigZag(int64_t value) {
  return (static_cast<uint64_t>(value) << 1) ^ static_cast<uint64_t>(value >> 63);
}
int64_t UnZigZag(uint64_t value) {
  return static_cast<int64_t>(value >> 1) ^ -static_cast<int64_t>(value & 1);
}

// ---- writing ----

void WriteRate(FieldWriter& writer, float hertz, float low, float high, int64_t* before) {
  const int64_t step = StepNear(hertz);
  writer(ZigZag(step - std::exchange(*before, step)));
  writer(ZigZag(step - static_cast<int64_t>(StepBelow(low))));
  writer(ZigZag(static_cast<int64_t>(StepAbove(high)) - step));
}

void WriteCurve(FieldWriter& writer, const RankCurve& curve) {
  writer(curve.pages());
  int64_t before = 0;
  for (const RankCurve::Point& point : curve.points())
    WriteRate(writer, point.hertz, point.low, point.high, &before);
}

void WritePopulation(FieldWriter& writer, const PagePopulation& population) {
  writer(population.pages);
  writer(population.low);
  writer(population.high);
}

void WriteConditions(FieldWriter& writer, const RunConditions& conditions) {
  writer(conditions.tracker);
  writer(uint64_t{conditions.windows.size()});
  for (const absl::Duration window : conditions.windows) writer(window);
  writer(conditions.reference_window);
  writer(conditions.page_size_bytes);
}

void WriteIdentities(FieldWriter& writer, const RunProfile& run) {
  writer(uint64_t{run.objects.size()});
  for (const RunProfile::Object& object : run.objects) {
    writer(object.id);
    writer(object.name);
  }
  writer(uint64_t{run.identities.size()});
  int64_t step = 0;
  RunProfile::Identity before;
  for (const RunProfile::Identity& identity : run.identities) {
    writer(uint64_t{identity.object - before.object});
    writer(identity.object == before.object ? identity.offset - before.offset : identity.offset);
    WriteRate(writer, identity.hertz, identity.low, identity.high, &step);
    before = identity;
  }
}

void WriteRun(FieldWriter& writer, const RunProfile& run) {
  writer(run.taken_at);
  writer(run.seen_share);
  writer(run.conditions.reference_window);
  WriteCurve(writer, run.whole);
  for (const RankCurve& curve : run.kinds) WriteCurve(writer, curve);
  WritePopulation(writer, run.ceiling);
  for (const PagePopulation& population : run.ceiling_by_kind) WritePopulation(writer, population);
  WriteIdentities(writer, run);
}

// ---- reading ----

struct Rate {
  float hertz = 0;
  float low = 0;
  float high = 0;
};

Rate ReadRate(FieldReader& reader, int64_t* before) {
  constexpr int64_t kMost = kInfiniteStep;
  uint64_t parts[3] = {};
  for (uint64_t& part : parts) reader(part);
  if (!reader.ok()) return {};
  for (const uint64_t part : parts) {
    if (part > 4 * static_cast<uint64_t>(kMost)) {
      reader.Fail("a frequency is out of its range");
      return {};
    }
  }
  const int64_t step = *before + UnZigZag(parts[0]);
  const int64_t low = step - UnZigZag(parts[1]);
  const int64_t high = step + UnZigZag(parts[2]);
  if (std::min({step, low, high}) < 0 || std::max({step, low, high}) > kMost || low > high) {
    reader.Fail("a frequency is out of its range");
    return {};
  }
  *before = step;
  return {HertzOfStep(static_cast<uint32_t>(step)), HertzOfStep(static_cast<uint32_t>(low)),
          HertzOfStep(static_cast<uint32_t>(high))};
}

RankCurve ReadCurve(FieldReader& reader) {
  uint64_t pages = 0;
  reader(pages);
  if (pages > kMostPagesOfCurve) reader.Fail("a curve has too many pages");
  if (!reader.ok()) return {};
  std::vector<RankCurve::Point> points;
  int64_t before = 0;
  for (const uint64_t rank : ComparedRanks(pages)) {
    const Rate rate = ReadRate(reader, &before);
    if (!reader.ok()) return {};
    if (!points.empty() && rate.hertz > points.back().hertz) {
      reader.Fail("a curve rises");
      return {};
    }
    points.push_back({rank, rate.hertz, rate.low, rate.high});
  }
  return {std::move(points), pages};
}

PagePopulation ReadPopulation(FieldReader& reader) {
  PagePopulation population;
  reader(population.pages);
  reader(population.low);
  reader(population.high);
  if (population.pages < 0 || population.low < 0 || population.high < 0)
    reader.Fail("a population is negative");
  return population;
}

uint64_t ReadCount(FieldReader& reader, uint64_t most) {
  uint64_t count = 0;
  reader(count);
  if (count > most) reader.Fail("a list is too long");
  return reader.ok() ? count : 0;
}

RunConditions ReadConditions(FieldReader& reader) {
  RunConditions conditions;
  reader(conditions.tracker);
  const uint64_t windows = ReadCount(reader, kMostWindows);
  for (uint64_t i = 0; i < windows && reader.ok(); ++i) reader(conditions.windows.emplace_back());
  reader(conditions.reference_window);
  reader(conditions.page_size_bytes);
  return conditions;
}

void ReadIdentities(FieldReader& reader, RunProfile* run) {
  const uint64_t objects = ReadCount(reader, kMostObjects);
  for (uint64_t i = 0; i < objects && reader.ok(); ++i) {
    RunProfile::Object& object = run->objects.emplace_back();
    reader(object.id);
    reader(object.name);
    if (i > 0 && run->objects[i - 1].id >= object.id) reader.Fail("objects are out of order");
  }
  const uint64_t identities = ReadCount(reader, kMostIdentities);
  int64_t step = 0;
  RunProfile::Identity before;
  for (uint64_t i = 0; i < identities && reader.ok(); ++i) {
    uint64_t objects_on = 0;
    uint64_t offset = 0;
    reader(objects_on);
    reader(offset);
    const Rate rate = ReadRate(reader, &step);
    if (objects_on >= objects || before.object + objects_on >= objects)
      return reader.Fail("a page has no object");
    if (objects_on == 0) {
      if (offset + before.offset < before.offset || (i > 0 && offset == 0))
        return reader.Fail("pages are out of order");
      offset += before.offset;
    }
    before = {static_cast<uint32_t>(before.object + objects_on), offset, rate.hertz, rate.low, rate.high};
    run->identities.push_back(before);
  }
}

RunProfile ReadRun(FieldReader& reader, const Baseline& baseline) {
  RunProfile run;
  run.conditions = baseline.conditions;
  run.build_id = baseline.build_id;
  reader(run.taken_at);
  reader(run.seen_share);
  reader(run.conditions.reference_window);
  if (run.seen_share < 0 || run.seen_share > 1) reader.Fail("a share is out of its range");
  run.whole = ReadCurve(reader);
  for (RankCurve& curve : run.kinds) curve = ReadCurve(reader);
  run.ceiling = ReadPopulation(reader);
  for (PagePopulation& population : run.ceiling_by_kind) population = ReadPopulation(reader);
  ReadIdentities(reader, &run);
  return run;
}

}  // namespace

std::string EncodeBaseline(const Baseline& baseline) {
  FieldWriter writer;
  writer(baseline.group);
  writer(baseline.build_id);
  WriteConditions(writer, baseline.conditions);
  writer(uint64_t{baseline.runs.size()});
  for (const RunProfile& run : baseline.runs) WriteRun(writer, run);
  writer(baseline.thinned_runs);
  if (baseline.thinned_runs > 0) WriteRun(writer, baseline.thinned);
  return PackBytes(kForm, writer.Take());
}

absl::StatusOr<Baseline> DecodeBaselinePayload(absl::string_view payload) {
  Baseline baseline;
  FieldReader reader(payload);
  reader(baseline.group);
  reader(baseline.build_id);
  baseline.conditions = ReadConditions(reader);
  const uint64_t runs = ReadCount(reader, kMostRuns);
  for (uint64_t i = 0; i < runs && reader.ok(); ++i) baseline.runs.push_back(ReadRun(reader, baseline));
  reader(baseline.thinned_runs);
  if (reader.ok() && baseline.thinned_runs > 0) baseline.thinned = ReadRun(reader, baseline);
  if (!reader.ok()) return Damaged(kForm, reader.problem());
  if (!reader.at_end()) return Damaged(kForm, "it holds more than a baseline");
  return baseline;
}

absl::StatusOr<Baseline> DecodeBaseline(absl::string_view bytes) {
  const absl::StatusOr<std::string> payload = UnpackBytes(kForm, bytes);
  if (!payload.ok()) return payload.status();
  return DecodeBaselinePayload(*payload);
}

}  // namespace mempulse
