#include "exporter/publish/family_book.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "absl/strings/str_split.h"
#include "exporter/publish/label_text.h"
#include "prometheus/text_serializer.h"

namespace mempulse {
namespace {

std::vector<prometheus::ClientMetric::Label> LabelPairs(const MetricSpec& spec,
                                                        const FamilyBook::Labels& values) {
  std::vector<prometheus::ClientMetric::Label> pairs;
  if (values.empty()) return pairs;
  const std::vector<std::string> names = absl::StrSplit(spec.labels, ',');
  for (size_t i = 0; i < names.size() && i < values.size(); ++i)
    pairs.push_back({names[i], LabelValue(values[i])});
  return pairs;
}

prometheus::MetricType ModelType(MetricType type) {
  switch (type) {
    case MetricType::kGauge:
      return prometheus::MetricType::Gauge;
    case MetricType::kCounter:
      return prometheus::MetricType::Counter;
    case MetricType::kHistogram:
      return prometheus::MetricType::Histogram;
  }
  return prometheus::MetricType::Untyped;
}

using UnitKey = std::tuple<Shedding::Stage, double, std::string>;

UnitKey KeyOf(const Shedding& shedding) { return {shedding.stage, shedding.rank, shedding.unit}; }

}  // namespace

FamilyBook::FamilyBook() : samples_(std::size(catalogue::kMetrics)) {}

std::vector<FamilyBook::Sample>& FamilyBook::SamplesOf(const MetricSpec& spec) {
  return samples_[static_cast<size_t>(&spec - catalogue::kMetrics)];
}

void FamilyBook::Add(const MetricSpec& spec, const Labels& labels, double value, const Shedding& shedding) {
  if (std::isnan(value)) return;
  Sample sample;
  sample.metric.label = LabelPairs(spec, labels);
  sample.shedding = shedding;
  if (spec.type == MetricType::kCounter) {
    sample.metric.counter.value = value;
  } else {
    sample.metric.gauge.value = value;
  }
  SamplesOf(spec).push_back(std::move(sample));
  ++series_;
}

void FamilyBook::AddHistogram(const MetricSpec& spec, const Labels& labels, absl::Span<const double> bounds,
                              absl::Span<const uint64_t> counts, double sum) {
  Sample sample;
  sample.metric.label = LabelPairs(spec, labels);
  prometheus::ClientMetric::Histogram& histogram = sample.metric.histogram;
  for (size_t i = 0; i < counts.size(); ++i) {
    histogram.sample_count += counts[i];
    if (i < bounds.size()) histogram.bucket.push_back({histogram.sample_count, bounds[i]});
  }
  histogram.sample_sum = sum;
  sample.series = bounds.size() + 3;  // +Inf, sum, count
  series_ += sample.series;
  SamplesOf(spec).push_back(std::move(sample));
}

size_t FamilyBook::Trim(size_t limit) {
  if (series_ <= limit) return 0;
  std::map<UnitKey, size_t> units;
  for (const std::vector<Sample>& samples : samples_) {
    for (const Sample& sample : samples) {
      if (sample.shedding.stage != Shedding::kNever) units[KeyOf(sample.shedding)] += sample.series;
    }
  }
  const size_t before = series_;
  std::set<UnitKey> gone;
  for (const auto& [unit, series] : units) {
    if (series_ <= limit) break;
    gone.insert(unit);
    series_ -= series;
  }
  for (std::vector<Sample>& samples : samples_) {
    std::erase_if(samples, [&gone](const Sample& sample) { return gone.contains(KeyOf(sample.shedding)); });
  }
  return before - series_;
}

std::string FamilyBook::Render(MetricGroup group) const {
  std::vector<prometheus::MetricFamily> families;
  for (size_t i = 0; i < samples_.size(); ++i) {
    const MetricSpec& spec = catalogue::kMetrics[i];
    if (spec.group != group || samples_[i].empty()) continue;
    prometheus::MetricFamily family{spec.name, spec.help, ModelType(spec.type), {}};
    for (const Sample& sample : samples_[i]) family.metric.push_back(sample.metric);
    families.push_back(std::move(family));
  }
  return prometheus::TextSerializer().Serialize(families);
}

}  // namespace mempulse
