#include "collectors/targets/glob.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"

namespace mempulse {
namespace {

constexpr size_t kPatternLimit = 1024;

size_t Index(char c) { return static_cast<unsigned char>(c); }

}  // namespace

class Glob::Compiler {
 public:
  explicit Compiler(absl::string_view pattern) : pattern_(pattern), rest_(pattern) {}

  absl::StatusOr<std::vector<Token>> Run() {
    if (pattern_.size() > kPatternLimit) return absl::InvalidArgumentError("glob is longer than 1024 bytes");
    while (!rest_.empty()) {
      const absl::Status status = Next();
      if (!status.ok()) return status;
    }
    return std::move(tokens_);
  }

 private:
  absl::Status Next() {
    const char c = rest_.front();
    rest_.remove_prefix(1);
    Token token;
    switch (c) {
      case '*':
        Stars();
        return absl::OkStatus();
      case '?':
        token.set.set().reset(Index('/'));
        break;
      case '[':
        if (!Bracket(&token.set)) return Error("an open [");
        break;
      case '\\':
        if (rest_.empty()) return Error("a backslash at the end");
        token.set.set(Index(rest_.front()));
        rest_.remove_prefix(1);
        break;
      default:
        token.set.set(Index(c));
    }
    tokens_.push_back(token);
    return absl::OkStatus();
  }

  void Stars() {
    const size_t position = pattern_.size() - rest_.size() - 1;
    const bool at_folder = position == 0 || pattern_[position - 1] == '/';
    const size_t more = std::min(rest_.find_first_not_of('*'), rest_.size());
    rest_.remove_prefix(more);
    Token token;
    token.kind = more == 0 ? Token::Kind::kStar : Token::Kind::kDoubleStar;
    if (more > 0 && at_folder && !rest_.empty() && rest_.front() == '/') {
      token.kind = Token::Kind::kFolders;
      rest_.remove_prefix(1);
    }
    tokens_.push_back(token);
  }

  // After the bracket. A "]" that comes first is a member.
  bool Bracket(std::bitset<256>* set) {
    const bool negated = !rest_.empty() && (rest_.front() == '!' || rest_.front() == '^');
    if (negated) rest_.remove_prefix(1);
    for (bool first = true; !rest_.empty() && (first || rest_.front() != ']'); first = false) {
      const size_t low = Index(rest_.front());
      rest_.remove_prefix(1);
      size_t high = low;
      if (rest_.size() >= 2 && rest_[0] == '-' && rest_[1] != ']') {
        high = Index(rest_[1]);
        rest_.remove_prefix(2);
      }
      for (size_t member = low; member <= high; ++member) set->set(member);
    }
    if (rest_.empty()) return false;
    rest_.remove_prefix(1);
    if (negated) set->flip();
    set->reset(Index('/'));
    return true;
  }

  absl::Status Error(absl::string_view what) const {
    return absl::InvalidArgumentError(absl::StrCat("glob \"", pattern_, "\" has ", what));
  }

  absl::string_view pattern_;
  absl::string_view rest_;
  std::vector<Token> tokens_;
};

absl::StatusOr<Glob> Glob::Create(absl::string_view pattern) {
  absl::StatusOr<std::vector<Token>> tokens = Compiler(pattern).Run();
  if (!tokens.ok()) return tokens.status();
  return Glob(*std::move(tokens));
}

// Everything but kSet may take nothing, so reaching it reaches what follows it too.
void Glob::Enter(size_t state, std::vector<bool>* states) const {
  while (!(*states)[state]) {
    (*states)[state] = true;
    if (state == tokens_.size() || tokens_[state].kind == Token::Kind::kSet) return;
    ++state;
  }
}

bool Glob::Matches(absl::string_view text) const {
  // States: "the next byte is for token i". Inside a kFolders token (second half) only a slash leads on.
  const size_t end = tokens_.size();
  std::vector<bool> now(end + 1);
  std::vector<bool> inside_folders(end + 1);
  Enter(0, &now);
  for (const char c : text) {
    std::vector<bool> next(end + 1);
    std::vector<bool> next_inside(end + 1);
    for (size_t i = 0; i < end; ++i) {
      if (!now[i] && !inside_folders[i]) continue;
      switch (tokens_[i].kind) {
        case Token::Kind::kSet:
          if (tokens_[i].set[Index(c)]) Enter(i + 1, &next);
          break;
        case Token::Kind::kStar:
          if (c != '/') Enter(i, &next);
          break;
        case Token::Kind::kDoubleStar:
          Enter(i, &next);
          break;
        case Token::Kind::kFolders:
          next_inside[i] = true;
          if (c == '/') Enter(i + 1, &next);
      }
    }
    now.swap(next);
    inside_folders.swap(next_inside);
  }
  return now[end];
}

}  // namespace mempulse
