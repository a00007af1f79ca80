#include "config/section_reader.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "config/key_table.h"
#include "config/near_name.h"
#include "config/quoted_text.h"
#include "config/value_reader.h"

namespace mempulse {
namespace {

std::string Inside(const std::string& path, absl::string_view name) {
  return path.empty() ? std::string(name) : absl::StrCat(path, ".", name);
}

std::string In(const std::string& path) { return path.empty() ? "" : absl::StrCat(" in ", path); }

// Reads one value, at one path, into the field it is visited with.
class FieldReader {
 public:
  FieldReader(const YamlNode& node, std::string path, KeyLines& lines, ProblemList& problems)
      : node_(node), path_(std::move(path)), lines_(lines), problems_(problems) {}

  void operator()(const SwitchField& field) { Put(SwitchValue(node_), *field.value); }
  void operator()(const CountField& field) {
    const absl::StatusOr<int64_t> count = CountValue(node_, field.low, field.high);
    std::visit([&](auto* value) { Put(count, *value); }, field.value);
  }
  void operator()(const RatioField& field) { Put(RatioValue(node_, field), *field.value); }
  void operator()(const DurationField& field) {
    Put(DurationValue(node_, field.low, field.high), *field.value);
  }
  void operator()(const TextField& field) { Put(TextValue(node_, *field.form), *field.value); }
  void operator()(const ChoiceField& field) {
    const absl::StatusOr<size_t> index = ChoiceValue(node_, field.choices);
    if (Accept(index.status())) *field.value = std::string(field.choices[*index]);
  }
  void operator()(const TrackerField& field) {
    const absl::StatusOr<size_t> index = ChoiceValue(node_, TrackerChoiceNames());
    if (Accept(index.status())) *field.value = static_cast<TrackerChoice>(*index);
  }
  void operator()(const AttachField& field) { Put(AttachValue(node_), *field.value); }

  void operator()(const CountListField& field) {
    ReadList(*field.value, false,
             [&](const YamlNode& item) { return CountValue(item, field.low, field.high); });
  }
  void operator()(const DurationListField& field) {
    ReadList(*field.value, field.may_be_empty,
             [&](const YamlNode& item) { return DurationValue(item, field.low, field.high); });
  }
  void operator()(const TextListField& field) {
    ReadList(*field.value, false, [&](const YamlNode& item) { return TextValue(item, *field.form); });
  }

  void operator()(const SectionField& field) { ReadSection(node_, path_, field.keys, lines_, problems_); }
  void operator()(const GroupListField& field);

 private:
  bool Accept(const absl::Status& status) {
    if (!status.ok()) problems_.AddValue(node_.line, path_, status.message());
    return status.ok();
  }
  template <typename From, typename To>
  void Put(const absl::StatusOr<From>& from, To& to) {
    if (Accept(from.status())) to = static_cast<To>(*from);
  }
  template <typename Item, typename ReadItem>
  void ReadList(std::vector<Item>& value, bool may_be_empty, ReadItem read);

  const YamlNode& node_;
  const std::string path_;
  KeyLines& lines_;
  ProblemList& problems_;
};

template <typename Item, typename ReadItem>
void FieldReader::ReadList(std::vector<Item>& value, bool may_be_empty, ReadItem read) {
  if (node_.kind != YamlNode::Kind::kList) {
    const auto item = read(node_);
    if (Accept(item.status())) value = {static_cast<Item>(*item)};
    return;
  }
  std::vector<Item> list;
  for (size_t i = 0; i < node_.values.size(); ++i) {
    const YamlNode& node = node_.values[i];
    const std::string path = absl::StrCat(path_, "[", i, "]");
    lines_.Set(path, node.line);
    const auto item = read(node);
    if (!item.ok()) {
      problems_.AddValue(node.line, path, item.status().message());
    } else if (std::find(list.begin(), list.end(), static_cast<Item>(*item)) != list.end()) {
      problems_.AddValue(node.line, path, absl::StrCat(QuotedText(node.text), " is listed twice"));
    } else {
      list.push_back(static_cast<Item>(*item));
    }
  }
  if (node_.values.empty() && !may_be_empty) {
    problems_.AddValue(node_.line, path_, "is an empty list; give a value or remove the key");
  }
  if (!problems_.Touches(path_)) value = std::move(list);
}

void FieldReader::operator()(const GroupListField& field) {
  if (node_.kind != YamlNode::Kind::kList) {
    const bool nothing = node_.kind == YamlNode::Kind::kNull;
    problems_.AddValue(node_.line, path_,
                       nothing ? "has no value; give a list of groups or remove the key"
                               : "takes a list of groups; start each with \"- name: \"");
    return;
  }
  for (size_t i = 0; i < node_.values.size(); ++i) {
    const std::string path = absl::StrCat(path_, "[", i, "]");
    TargetGroupOptions& group = field.groups->emplace_back();
    group.sweep = *field.inherited;
    lines_.Set(path, node_.values[i].line);
    ReadSection(node_.values[i], path, GroupKeys(group), lines_, problems_);
  }
}

std::string UnknownKey(absl::string_view name, const std::string& path, const Section& section) {
  std::vector<absl::string_view> names;
  for (const Key& key : section) names.push_back(key.name);
  if (name == "<<")
    return absl::StrCat("merge keys (<<) are not taken", In(path), "; name the whole value instead");
  const std::string hint = NearNameHint(name, names);
  return absl::StrCat("unknown key ", QuotedText(name), In(path),
                      hint.empty() ? absl::StrCat("; known are ", absl::StrJoin(names, ", ")) : hint);
}

void CheckNeeds(const YamlNode& node, const std::string& path, const Section& section, const KeyLines& lines,
                ProblemList& problems) {
  std::vector<absl::string_view> one_of;
  bool has_one = false;
  for (const Key& key : section) {
    const bool given = lines.Has(Inside(path, key.name));
    if (key.need == Need::kRequired && !given) {
      problems.Add(node.line, path, absl::StrCat(path, ": \"", key.name, "\" is missing"));
    }
    if (key.need == Need::kOneOfThese) {
      one_of.push_back(key.name);
      has_one = has_one || given;
    }
  }
  if (!one_of.empty() && !has_one) {
    problems.AddValue(node.line, path,
                      absl::StrCat("selects no process; give at least one of ", absl::StrJoin(one_of, ", ")));
  }
}

}  // namespace

int KeyLines::Of(const std::string& path) const {
  for (std::string at = path; !at.empty(); at.resize(std::max<size_t>(at.find_last_of(".[") + 1, 1) - 1)) {
    if (const auto found = lines_.find(at); found != lines_.end()) return found->second;
  }
  return 1;
}

void ReadSection(const YamlNode& node, const std::string& path, const Section& section, KeyLines& lines,
                 ProblemList& problems) {
  if (node.kind != YamlNode::Kind::kMap) {
    const bool nothing = node.kind == YamlNode::Kind::kNull;
    problems.Add(
        node.line, path,
        absl::StrCat(path.empty() ? "the file" : path + ":",
                     nothing ? " has no value; give keys or remove it" : " takes keys (\"name: value\")"));
    return;
  }
  std::map<absl::string_view, size_t> given;
  for (size_t i = 0; i < node.keys.size(); ++i) {
    const YamlNode& key = node.keys[i];
    if (key.kind != YamlNode::Kind::kScalar) {
      problems.Add(key.line, path, absl::StrCat("a key", In(path), " is no word"));
    } else if (const auto [first, fresh] = given.emplace(key.text, i); !fresh) {
      problems.Add(key.line, path,
                   absl::StrCat("duplicate key ", QuotedText(key.text), In(path), "; first on line ",
                                node.keys[first->second].line));
    } else if (std::none_of(section.begin(), section.end(),
                            [&](const Key& k) { return k.name == key.text; })) {
      problems.Add(key.line, path, UnknownKey(key.text, path, section));
    }
  }
  for (const Key& key : section) {
    const auto found = given.find(key.name);
    if (found == given.end()) continue;
    const std::string key_path = Inside(path, key.name);
    lines.Set(key_path, node.keys[found->second].line);
    std::visit(FieldReader(node.values[found->second], key_path, lines, problems), key.field);
  }
  CheckNeeds(node, path, section, lines, problems);
}

}  // namespace mempulse
