#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "exporter/publish/catalogue.h"
#include "prometheus/metric_family.h"

namespace mempulse {

// What goes first when there are too many series: lower stages first, inside a stage the lowest rank, then
// the alphabet. Samples of one unit go together.
struct Shedding {
  enum Stage { kNever, kRegions, kBands, kRungs };
  Stage stage = kNever;
  double rank = 0;
  std::string unit;
};

// One page of metrics in the making. Not thread-safe.
class FamilyBook {
 public:
  using Labels = std::vector<std::string>;  // values in the order of MetricSpec::labels, in any encoding

  FamilyBook();

  // A value that is no number is left out. Cuts and repairs label values.
  void Add(const MetricSpec& spec, const Labels& labels, double value, const Shedding& shedding = {});
  // `counts` has one entry a bound and one for what lies beyond; it is not cumulated.
  void AddHistogram(const MetricSpec& spec, const Labels& labels, absl::Span<const double> bounds,
                    absl::Span<const uint64_t> counts, double sum);

  // Samples as a scrape counts them: a histogram has one a bucket, and sum and count.
  size_t series() const { return series_; }

  // Sheds until at most `limit` are left, or nothing is left that may go. Returns how many went.
  size_t Trim(size_t limit);

  // Families of one group in the order of the catalogue, in the text format.
  std::string Render(MetricGroup group) const;

 private:
  struct Sample {
    prometheus::ClientMetric metric;
    Shedding shedding;
    size_t series = 1;
  };
  std::vector<Sample>& SamplesOf(const MetricSpec& spec);

  std::vector<std::vector<Sample>> samples_;  // one list a metric of the catalogue
  size_t series_ = 0;
};

}  // namespace mempulse
