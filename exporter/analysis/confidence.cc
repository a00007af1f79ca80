#include "exporter/analysis/confidence.h"

#include <algorithm>
#include <cmath>

namespace mempulse {

double UpperTail(double z) { return 0.5 * std::erfc(z / std::sqrt(2.0)); }

Interval WilsonInterval(double hits, double looks, double z) {
  const double share = hits / looks;
  const double z2 = z * z / looks;
  const double middle = share + z2 / 2;
  const double spread = z * std::sqrt(std::max(0.0, share * (1 - share) / looks + z2 / (4 * looks)));
  return {std::max(0.0, (middle - spread) / (1 + z2)), std::min(1.0, (middle + spread) / (1 + z2))};
}

Interval PoissonInterval(double count, double z) {
  const auto cube = [](double x) { return x * x * x; };
  Interval result;
  if (count > 0) {
    result.low = count * cube(std::max(0.0, 1 - 1 / (9 * count) - z / (3 * std::sqrt(count))));
  }
  const double next = count + 1;
  result.high = next * cube(1 - 1 / (9 * next) + z / (3 * std::sqrt(next)));
  return result;
}

double StudentQuantile(double z, double degrees) { return z * (1 + (z * z + 1) / (4 * degrees)); }

Interval SampledPopulation(double seen, double share, double z) {
  if (share >= 1) return {seen, seen};
  // With x = sqrt(N * share): x^2 -+ z * sqrt(1 - share) * x = seen.
  const double b = z * std::sqrt(1 - share);
  const double root = std::sqrt(b * b + 4 * seen);
  const double low = (root - b) / 2;
  const double high = (root + b) / 2;
  return {std::max(seen, low * low / share), std::max(seen, high * high / share)};
}

}  // namespace mempulse
