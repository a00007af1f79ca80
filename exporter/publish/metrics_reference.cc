#include <cstdio>
#include <string>

#include "exporter/publish/catalogue.h"

// Prints docs/metrics.md.
int main() {
  const std::string text = mempulse::RenderMetricsReference();
  return std::fwrite(text.data(), 1, text.size(), stdout) == text.size() ? 0 : 1;
}
