#include "config/yaml_reader.h"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <sstream>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "config/utf8_text.h"
#include "config/yaml_tree_builder.h"

namespace mempulse {
namespace {

// Refuses a second document, of which the builder would otherwise know nothing.
class NoDocument : public YAML::EventHandler {
 public:
  void OnDocumentStart(const YAML::Mark& mark) override {
    throw YAML::ParserException(mark, "the file holds a second document; write one");
  }
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark&, YAML::anchor_t) override {}
  void OnAlias(const YAML::Mark&, YAML::anchor_t) override {}
  void OnScalar(const YAML::Mark&, const std::string&, YAML::anchor_t, const std::string&) override {}
  void OnSequenceStart(const YAML::Mark&, const std::string&, YAML::anchor_t,
                       YAML::EmitterStyle::value) override {}
  void OnSequenceEnd() override {}
  void OnMapStart(const YAML::Mark&, const std::string&, YAML::anchor_t, YAML::EmitterStyle::value) override {
  }
  void OnMapEnd() override {}
};

YamlNode ParseDocument(absl::string_view yaml) {
  std::istringstream stream{std::string(yaml)};
  YAML::Parser parser(stream);
  YamlTreeBuilder builder;
  parser.HandleNextDocument(builder);
  NoDocument none;
  parser.HandleNextDocument(none);
  return builder.TakeRoot();
}

// Usual causes of a syntax error that yaml-cpp's own words do not name; `number` counts from 1.
absl::string_view SyntaxHint(absl::string_view yaml, int number) {
  const std::vector<absl::string_view> lines = absl::StrSplit(yaml, absl::MaxSplits('\n', number));
  const absl::string_view line = lines[std::min<size_t>(lines.size(), number) - 1];
  if (absl::StrContains(line, "]:")) return "; write an IPv6 address in quotes, e.g. \"[::1]:9834\"";
  const absl::string_view indent = line.substr(0, line.find_first_not_of(" \t"));
  return absl::StrContains(indent, "\t") ? "; indent with spaces, not tabs" : "";
}

}  // namespace

std::optional<YamlNode> ReadYaml(absl::string_view yaml, ProblemList& problems) {
  if (const size_t bad = FindBadByte(yaml); bad != yaml.size()) {
    const auto line = 1 + std::count(yaml.begin(), yaml.begin() + static_cast<long>(bad), '\n');
    problems.Add(static_cast<int>(line), "",
                 "not UTF-8 text (a byte here is invalid or a control character)");
    return std::nullopt;
  }
  try {
    YamlNode root = ParseDocument(yaml);
    if (root.kind == YamlNode::Kind::kNull) root.kind = YamlNode::Kind::kMap;
    return root;
  } catch (const YAML::Exception& error) {
    const int line = error.mark.is_null() ? 1 : error.mark.line + 1;
    problems.Add(line, "", absl::StrCat(error.msg, SyntaxHint(yaml, line)));
  } catch (const std::exception& error) {
    problems.Add(1, "", error.what());
  }
  return std::nullopt;
}

}  // namespace mempulse
