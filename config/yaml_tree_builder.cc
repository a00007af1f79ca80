#include "config/yaml_tree_builder.h"

#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/mark.h>

#include <algorithm>
#include <utility>

namespace mempulse {
namespace {

constexpr int kMaxNodes = 10000;
constexpr int kMaxLevels = 16;
constexpr size_t kMaxScalarBytes = 4096;

// yaml-cpp marks a plain node "?" (or nothing) and a quoted scalar "!"; anything else is from the file.
void CheckTag(const YAML::Mark& mark, const std::string& tag) {
  if (tag.empty() || tag == "?" || tag == "!") return;
  throw YAML::ParserException(mark, "YAML tags are not taken; remove the word that starts with \"!\"");
}

}  // namespace

void YamlTreeBuilder::OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) {
  CheckLimits(mark, Size{});
  YamlNode node;
  node.line = mark.line + 1;
  Finish(std::move(node), anchor, Size{});
}

void YamlTreeBuilder::OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) {
  const auto found = anchored_.find(anchor);
  if (found == anchored_.end()) throw YAML::ParserException(mark, "an alias stands inside its own anchor");
  CheckLimits(mark, found->second.size);
  Finish(found->second.node, 0, found->second.size);
}

void YamlTreeBuilder::OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                               const std::string& value) {
  CheckTag(mark, tag);
  CheckLimits(mark, Size{});
  if (value.size() > kMaxScalarBytes) throw YAML::ParserException(mark, "a text is longer than 4096 bytes");
  YamlNode node;
  node.kind = YamlNode::Kind::kScalar;
  node.line = mark.line + 1;
  node.text = value;
  node.quoted = tag == "!";
  Finish(std::move(node), anchor, Size{});
}

void YamlTreeBuilder::OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                                      YAML::EmitterStyle::value) {
  Start(mark, tag, anchor, YamlNode::Kind::kList);
}

void YamlTreeBuilder::OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                                 YAML::EmitterStyle::value) {
  Start(mark, tag, anchor, YamlNode::Kind::kMap);
}

void YamlTreeBuilder::Start(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                            YamlNode::Kind kind) {
  CheckTag(mark, tag);
  CheckLimits(mark, Size{});
  Open open;
  open.node.kind = kind;
  open.node.line = mark.line + 1;
  open.anchor = anchor;
  open_.push_back(std::move(open));
}

void YamlTreeBuilder::Close() {
  Open closed = std::move(open_.back());
  open_.pop_back();
  Finish(std::move(closed.node), closed.anchor, closed.size);
}

void YamlTreeBuilder::Finish(YamlNode node, YAML::anchor_t anchor, Size size) {
  if (anchor != 0) anchored_[anchor] = Anchored{node, size};
  if (open_.empty()) {
    root_ = std::move(node);
    return;
  }
  Open& parent = open_.back();
  parent.size.nodes += size.nodes;
  parent.size.levels = std::max(parent.size.levels, size.levels + 1);
  const bool is_key =
      parent.node.kind == YamlNode::Kind::kMap && parent.node.keys.size() == parent.node.values.size();
  // The event of a missing value carries the place of whatever follows it.
  const bool is_missing =
      parent.node.kind == YamlNode::Kind::kMap && !is_key && node.kind == YamlNode::Kind::kNull;
  if (is_missing) node.line = parent.node.keys.back().line;
  (is_key ? parent.node.keys : parent.node.values).push_back(std::move(node));
}

void YamlTreeBuilder::CheckLimits(const YAML::Mark& mark, Size added) {
  nodes_ += added.nodes;
  if (nodes_ > kMaxNodes) throw YAML::ParserException(mark, "the file holds more than 10000 values");
  if (static_cast<int>(open_.size()) + added.levels > kMaxLevels) {
    throw YAML::ParserException(mark, "the file is nested deeper than 16 levels");
  }
}

}  // namespace mempulse
