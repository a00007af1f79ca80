#include "config/text_form.h"

#include <algorithm>
#include <array>
#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "config/listen_address.h"
#include "config/pattern_text.h"
#include "config/quoted_text.h"
#include "config/utf8_text.h"

namespace mempulse {
namespace {

constexpr size_t kMaxPathBytes = 4095;  // PATH_MAX without its zero

absl::Status Refused(absl::string_view text, absl::string_view reason) {
  return absl::InvalidArgumentError(absl::StrCat(QuotedText(text), " ", reason));
}

absl::Status CheckAnything(absl::string_view) { return absl::OkStatus(); }

absl::Status CheckGroupName(absl::string_view text) {
  const bool good = std::all_of(text.begin(), text.end(), [](char byte) {
    return absl::ascii_isalnum(byte) || byte == '_' || byte == '.' || byte == '-';
  });
  return good ? absl::OkStatus() : Refused(text, "is no name; use letters, digits, \"_\", \".\" and \"-\"");
}

absl::Status CheckAbsolutePath(absl::string_view text) {
  return absl::StartsWith(text, "/") ? absl::OkStatus()
                                     : Refused(text, "is not an absolute path; start it with \"/\"");
}

absl::Status CheckComm(absl::string_view text) {
  if (text.size() <= 15) return absl::OkStatus();
  return Refused(text,
                 absl::StrCat("is longer than the 15 bytes that the kernel keeps of a process name; write ",
                              QuotedText(text.substr(0, 15))));
}

// Offset behind the bracket expression that opens at `at`; 0 when it does not close. A first "]" is literal.
size_t SkipBrackets(absl::string_view glob, size_t at) {
  size_t end = at + 1;
  if (end < glob.size() && (glob[end] == '!' || glob[end] == '^')) ++end;
  if (end < glob.size() && glob[end] == ']') ++end;
  while (end < glob.size() && glob[end] != ']' && glob[end] != '/') ++end;
  return end < glob.size() && glob[end] == ']' ? end + 1 : 0;
}

absl::Status CheckCgroupGlob(absl::string_view text) {
  if (text[0] != '/' && text[0] != '*') {
    return Refused(text, "matches no cgroup path; start it with \"/\" or \"**\"");
  }
  size_t at = 0;
  while (at < text.size()) {
    if (text[at] == '[') {
      at = SkipBrackets(text, at);
      if (at == 0) return Refused(text, "is no glob: a \"[\" is not closed");
      continue;
    }
    at += text[at] == '\\' ? 2 : 1;
  }
  return at == text.size() ? absl::OkStatus() : Refused(text, "is no glob: it ends in a backslash");
}

absl::Status CheckTelemetryPath(absl::string_view text) {
  const bool plain = std::all_of(text.begin(), text.end(), [](char byte) {
    return absl::ascii_isalnum(byte) || absl::StrContains("/_.-~", absl::string_view(&byte, 1));
  });
  if (text[0] != '/' || !plain || text.size() == 1) {
    return Refused(text, "is no path for metrics; start with \"/\", then letters, digits, \"_.-~/\"");
  }
  static constexpr std::array<absl::string_view, 2> kTaken = {"/-/", "/api/"};
  for (absl::string_view taken : kTaken) {
    if (absl::StartsWith(absl::StrCat(text, "/"), taken)) {
      return Refused(text, absl::StrCat("lies under ", taken, ", which is taken"));
    }
  }
  return absl::OkStatus();
}

}  // namespace

const TextForm kGroupName = {"name", "^[a-zA-Z0-9_.-]{1,64}$", 64, CheckGroupName};
const TextForm kFilePath = {"path", "", kMaxPathBytes, CheckAnything};
const TextForm kAbsolutePath = {"absolute path", "^/", kMaxPathBytes, CheckAbsolutePath};
const TextForm kSocketPath = {"absolute path", "^/", 107, CheckAbsolutePath};
const TextForm kComm = {"process name", "^.{1,15}$", kMaxPathBytes, CheckComm};
const TextForm kRegexp = {"regular expression", "", 1024, CheckPatternText};
const TextForm kCgroupGlob = {"glob", "^[/*]", 1024, CheckCgroupGlob};
const TextForm kListenAddress = {"address", "^([A-Za-z0-9.-]*|\\[[0-9A-Fa-f:.]+\\]):[0-9]{1,5}$", 270,
                                 CheckListenAddress};
const TextForm kTelemetryPath = {"URL path", "^/[A-Za-z0-9/_.~-]+$", 128, CheckTelemetryPath};

absl::Status CheckTextForm(absl::string_view text, const TextForm& form) {
  if (text.empty())
    return absl::InvalidArgumentError(
        absl::StrCat("is empty; give ", form.noun[0] == 'a' ? "an " : "a ", form.noun));
  if (text.size() > form.max_bytes)
    return Refused(text, absl::StrCat("is longer than ", form.max_bytes, " bytes"));
  if (FindBadByte(text) != text.size()) return Refused(text, "holds a control character");
  return form.check(text);
}

}  // namespace mempulse
