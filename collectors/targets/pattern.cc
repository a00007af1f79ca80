#include "collectors/targets/pattern.h"

#include <array>
#include <utility>

#include "absl/strings/str_cat.h"

namespace mempulse {
namespace {

// Outside of brackets a backslash takes the next character with it.
bool HasBackReference(absl::string_view expression) {
  for (size_t i = 0; i + 1 < expression.size(); ++i) {
    if (expression[i] != '\\') continue;
    ++i;
    if (expression[i] >= '1' && expression[i] <= '9') return true;
  }
  return false;
}

}  // namespace

void Pattern::Free::operator()(regex_t* compiled) const {
  regfree(compiled);
  delete compiled;
}

absl::StatusOr<Pattern> Pattern::Create(const std::string& expression) {
  const auto refuse = [&expression](absl::string_view reason) {
    return absl::InvalidArgumentError(absl::StrCat("regular expression \"", expression, "\": ", reason));
  };
  if (expression.find('\0') != std::string::npos) return refuse("holds a NUL byte");
  if (HasBackReference(expression)) return refuse("back-references are not supported");
  auto fresh = std::make_unique<regex_t>();
  const int error = regcomp(fresh.get(), expression.c_str(), REG_EXTENDED | REG_NOSUB);
  if (error != 0) {
    std::array<char, 128> reason{};
    regerror(error, fresh.get(), reason.data(), reason.size());
    return refuse(reason.data());
  }
  return Pattern(std::unique_ptr<regex_t, Free>(fresh.release()));
}

bool Pattern::IsFoundIn(const std::string& text) const {
  return regexec(compiled_.get(), text.c_str(), 0, nullptr, 0) == 0;
}

}  // namespace mempulse
