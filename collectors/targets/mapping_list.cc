#include "collectors/targets/mapping_list.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "collectors/targets/classify_mapping.h"

namespace mempulse {
namespace {

constexpr absl::string_view kDeletedSuffix = " (deleted)";
constexpr size_t kQuotedBytes = 160;

int DigitValue(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return 16;
}

// Takes tokens off the front of one line; after the first mismatch `ok` stays false.
struct LineReader {
  absl::string_view rest;
  bool ok = true;

  uint64_t Number(unsigned base) {
    uint64_t value = 0;
    size_t digits = 0;
    for (; digits < rest.size(); ++digits) {
      const auto digit = static_cast<unsigned>(DigitValue(rest[digits]));
      if (digit >= base) break;
      if (value > (std::numeric_limits<uint64_t>::max() - digit) / base) ok = false;
      value = value * base + digit;
    }
    ok = ok && digits > 0;
    rest.remove_prefix(digits);
    return value;
  }

  void Expect(char expected) {
    ok = ok && !rest.empty() && rest.front() == expected;
    if (ok) rest.remove_prefix(1);
  }

  bool Flag(char set, char clear) {
    ok = ok && !rest.empty() && (rest.front() == set || rest.front() == clear);
    if (!ok) return false;
    const bool value = rest.front() == set;
    rest.remove_prefix(1);
    return value;
  }
};

// The kernel writes a newline in a path as \012 and leaves every other byte alone, the backslash too.
std::string UndoEscapes(absl::string_view text) {
  constexpr absl::string_view kNewline = "\\012";
  std::string name;
  name.reserve(text.size());
  for (size_t at = text.find(kNewline); at != absl::string_view::npos; at = text.find(kNewline)) {
    name.append(text.data(), at);
    name.push_back('\n');
    text.remove_prefix(at + kNewline.size());
  }
  name.append(text.data(), text.size());
  return name;
}

bool ParseLine(absl::string_view line, Mapping* mapping) {
  LineReader reader{line};
  mapping->start = reader.Number(16);
  reader.Expect('-');
  mapping->end = reader.Number(16);
  reader.Expect(' ');
  mapping->readable = reader.Flag('r', '-');
  mapping->writable = reader.Flag('w', '-');
  mapping->executable = reader.Flag('x', '-');
  mapping->shared = reader.Flag('s', 'p');
  reader.Expect(' ');
  mapping->offset = reader.Number(16);
  reader.Expect(' ');
  const uint64_t device_major = reader.Number(16);
  reader.Expect(':');
  const uint64_t device_minor = reader.Number(16);
  reader.Expect(' ');
  mapping->inode = reader.Number(10);
  constexpr uint64_t kDeviceLimit = std::numeric_limits<uint32_t>::max();
  if (!reader.ok || mapping->start >= mapping->end || device_major > kDeviceLimit ||
      device_minor > kDeviceLimit) {
    return false;
  }
  mapping->device_major = static_cast<uint32_t>(device_major);
  mapping->device_minor = static_cast<uint32_t>(device_minor);
  absl::string_view name = reader.rest;
  if (!name.empty() && name.front() != ' ') return false;
  // Names start with a slash, a bracket or a word, never with a blank: what precedes them is padding.
  name.remove_prefix(std::min(name.find_first_not_of(' '), name.size()));
  mapping->deleted = absl::EndsWith(name, kDeletedSuffix);
  if (mapping->deleted) name.remove_suffix(kDeletedSuffix.size());
  mapping->name = UndoEscapes(name);
  mapping->kind = ClassifyMapping(*mapping);
  return true;
}

// A mapping that grew downwards over lines already given (it merged while the list was read) comes again
// whole.
void AppendDisjoint(Mapping mapping, std::vector<Mapping>* mappings) {
  if (!mappings->empty() && mapping.start < mappings->back().end) {
    const uint64_t covered = mappings->back().end;
    if (mapping.end <= covered) return;
    if (mapping.inode != 0) mapping.offset += covered - mapping.start;
    mapping.start = covered;
  }
  mappings->push_back(std::move(mapping));
}

}  // namespace

absl::StatusOr<std::vector<Mapping>> ParseMappings(absl::string_view text) {
  std::vector<Mapping> mappings;
  mappings.reserve(text.size() / 96);
  while (!text.empty()) {
    const absl::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    Mapping mapping;
    if (!ParseLine(line, &mapping)) {
      return absl::InvalidArgumentError(
          absl::StrCat("maps: cannot parse \"", absl::CHexEscape(line.substr(0, kQuotedBytes)), "\""));
    }
    AppendDisjoint(std::move(mapping), &mappings);
  }
  return mappings;
}

absl::StatusOr<std::vector<Mapping>> ReadMappings(const Host& host, pid_t pid, bool* truncated,
                                                  size_t limit) {
  *truncated = false;
  absl::StatusOr<std::string> text = host.ReadProcFile(pid, "maps", limit + 1);
  if (!text.ok()) return text.status();
  absl::string_view whole = *text;
  if (whole.size() > limit) {
    *truncated = true;
    whole = whole.substr(0, limit);
    whole = whole.substr(0, whole.rfind('\n') + 1);
  }
  return ParseMappings(whole);
}

const Mapping* FindMapping(const std::vector<Mapping>& mappings, uint64_t address) {
  const auto after =
      std::upper_bound(mappings.begin(), mappings.end(), address,
                       [](uint64_t value, const Mapping& mapping) { return value < mapping.start; });
  if (after == mappings.begin()) return nullptr;
  const Mapping& candidate = *(after - 1);
  return address < candidate.end ? &candidate : nullptr;
}

}  // namespace mempulse
