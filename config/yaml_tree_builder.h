#pragma once

#include <yaml-cpp/eventhandler.h>

#include <map>
#include <string>
#include <vector>

#include "config/yaml_reader.h"

namespace mempulse {

// Builds a YamlNode from yaml-cpp's events; aliases become copies of what they name, within the limits of
// ReadYaml. Throws YAML::ParserException, as yaml-cpp does itself; ReadYaml catches both. For one use.
class YamlTreeBuilder : public YAML::EventHandler {
 public:
  // The finished document; a null node when it was empty.
  YamlNode TakeRoot() { return std::move(root_); }

  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override;
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override;
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override;
  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value style) override;
  void OnSequenceEnd() override { Close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value style) override;
  void OnMapEnd() override { Close(); }

 private:
  struct Size {
    int nodes = 1;
    int levels = 1;
  };
  struct Open {
    YamlNode node;
    YAML::anchor_t anchor = 0;
    Size size;
  };
  struct Anchored {
    YamlNode node;
    Size size;
  };

  void Start(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor, YamlNode::Kind kind);
  void Close();
  // Puts a finished node into the innermost open one.
  void Finish(YamlNode node, YAML::anchor_t anchor, Size size);
  void CheckLimits(const YAML::Mark& mark, Size added);

  std::vector<Open> open_;
  std::map<YAML::anchor_t, Anchored> anchored_;
  int nodes_ = 0;
  YamlNode root_;
};

}  // namespace mempulse
