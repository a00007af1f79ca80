#include "config/yaml_reader.h"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <sstream>

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
    problems.Add(error.mark.is_null() ? 1 : error.mark.line + 1, "", error.msg);
  } catch (const std::exception& error) {
    problems.Add(1, "", error.what());
  }
  return std::nullopt;
}

}  // namespace mempulse
