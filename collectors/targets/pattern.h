#pragma once

#include <regex.h>

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace mempulse {

// A POSIX extended regular expression that is searched for in a text. Not std::regex: that recurses once per
// byte, and a target with a long command line would overflow our stack. Back-references (an extension of the
// C library) are refused, because a search with them can take exponential time. Thread-safe.
class Pattern {
 public:
  // InvalidArgument with the C library's explanation when `expression` does not compile.
  static absl::StatusOr<Pattern> Create(const std::string& expression);

  // `text` must hold no NUL byte beyond its end; "." matches a newline.
  bool IsFoundIn(const std::string& text) const;

 private:
  struct Free {
    void operator()(regex_t* compiled) const;
  };
  explicit Pattern(std::unique_ptr<regex_t, Free> compiled) : compiled_(std::move(compiled)) {}

  std::unique_ptr<regex_t, Free> compiled_;
};

}  // namespace mempulse
