#pragma once

#include <bitset>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace mempulse {

// A path pattern that must match the whole text: `*` and `?` stop at "/", `**` does not, "**/" at the start
// or after a slash also stands for no folder at all, [a-z] and [!a-z] never match "/", a backslash takes the
// next byte as it is. Bytes, not characters. Matching takes time proportional to pattern x text, whatever
// both contain. Thread-safe.
class Glob {
 public:
  // InvalidArgument for an open bracket, a trailing backslash or more than 1024 bytes.
  static absl::StatusOr<Glob> Create(absl::string_view pattern);

  bool Matches(absl::string_view text) const;

 private:
  struct Token {
    enum class Kind { kSet, kStar, kDoubleStar, kFolders } kind = Kind::kSet;
    std::bitset<256> set;  // of the one byte that a kSet token takes
  };
  class Compiler;

  explicit Glob(std::vector<Token> tokens) : tokens_(std::move(tokens)) {}
  void Enter(size_t state, std::vector<bool>* states) const;

  std::vector<Token> tokens_;
};

}  // namespace mempulse
