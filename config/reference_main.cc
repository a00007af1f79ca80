#include <cstdio>

#include "absl/strings/string_view.h"
#include "config/reference.h"

// Prints one of the documents that are made from the table of keys.
int main(int argc, char** argv) {
  const absl::string_view form = argc == 2 ? argv[1] : "";
  std::string text;
  if (form == "--markdown") {
    text = mempulse::ReferenceMarkdown();
  } else if (form == "--schema") {
    text = mempulse::ReferenceSchema();
  } else if (form == "--example") {
    text = mempulse::ReferenceExample();
  } else {
    std::fputs("usage: mempulse_config_reference --markdown | --schema | --example\n", stderr);
    return 2;
  }
  return std::fwrite(text.data(), 1, text.size(), stdout) == text.size() ? 0 : 1;
}
