#pragma once

namespace mempulse {

struct Interval {
  double low = 0;
  double high = 0;
};

// Chance that a standard normal value exceeds z: 0.025 for 1.96.
double UpperTail(double z);

// Score interval of a proportion (Wilson, 1927); hits may be fractional. Never outside [0, 1]; looks > 0.
Interval WilsonInterval(double hits, double looks, double z);

// Interval of the mean of a Poisson count, exact bounds in the cube-root approximation of Wilson and Hilferty
// (1931).
Interval PoissonInterval(double count, double z);

// z widened for a spread that was itself estimated from `degrees` + 1 values: Student's t in its first-order
// expansion. degrees >= 1.
double StudentQuantile(double z, double degrees);

// Population N of which `seen` were found when each was drawn with the chance `share` in (0, 1]: the N for
// which `seen` lies within z standard deviations of N * share. Never below `seen`.
Interval SampledPopulation(double seen, double share, double z);

}  // namespace mempulse
