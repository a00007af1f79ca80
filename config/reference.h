#pragma once

#include <string>

// The committed documents that the table of keys gives: printed by mempulse_config_reference, held by
// tests/lint/generated_config.
namespace mempulse {

std::string ReferenceMarkdown();  // docs/config.md
std::string ReferenceSchema();    // config/schema.json, JSON Schema draft-07
std::string ReferenceExample();   // config/examples/full.yml: every key with its default

}  // namespace mempulse
