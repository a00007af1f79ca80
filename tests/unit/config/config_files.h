#pragma once

#include <string>
#include <vector>

namespace mempulse {

// Base names of the files of tests/configs that end in `suffix`, sorted.
std::vector<std::string> ConfigFiles(const std::string& suffix);

// The bytes of a file, by its path in the source tree; a failed expectation and "" when it cannot be read.
std::string SourceText(const std::string& path);

}  // namespace mempulse
