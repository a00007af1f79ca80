#include "tests/fuzz/config_fuzz.h"

#include <cstdlib>

#include "absl/strings/string_view.h"
#include "config/load_options.h"
#include "config/option_warnings.h"

// Any bytes are a file that is either refused with at least one "NAME:LINE: sentence" or gives usable
// options.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const absl::string_view text(reinterpret_cast<const char*>(data), size);
  const absl::StatusOr<mempulse::Options> options = mempulse::ParseOptions(text, "fuzz.yml");
  if (options.ok()) {
    mempulse::OptionWarnings(*options);
    if (options->sweep.windows.empty()) std::abort();
  } else if (!absl::IsInvalidArgument(options.status()) ||
             options.status().message().substr(0, 9) != "fuzz.yml:") {
    std::abort();
  }
  return 0;
}
