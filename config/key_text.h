#pragma once

#include <string>

#include "config/key.h"

// A key's type, range and current value in words, for the reference.
namespace mempulse {

// "duration", "list of globs", "whole number"; "keys" for a section.
std::string TypeText(const Field& field);

// "100us to 10s", "above 0%, at most 100%", "debug, info, warn, error"; empty when the type says it all.
std::string RangeText(const Field& field);

// The bound value as the file would give it: "20ms", "[20ms, 5ms]", "true"; empty for a section, a list of
// groups and a text or list (other than one that may be empty) that holds nothing.
std::string ValueText(const Field& field);

}  // namespace mempulse
