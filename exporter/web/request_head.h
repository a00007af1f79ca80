#pragma once

#include <cstddef>

#include "absl/strings/string_view.h"
#include "exporter/web/http_message.h"

namespace mempulse {

inline constexpr size_t kMostHeadBytes = 8192;
inline constexpr int kMostHeaders = 64;

// The head of a request as far as this server needs it.
struct RequestHead {
  enum State { kIncomplete, kBad, kWhole };
  State state = kIncomplete;
  int status = 0;           // of the reply to a bad one: 400, 413, 501 or 505
  const char* reason = "";  // what is wrong with it
  size_t bytes = 0;         // of a whole one, the empty line included
  HttpRequest request;
  bool keep_alive = false;  // the client's wish
  bool has_body = false;    // bytes follow that belong to it
};

// Reads the head at the beginning of what has arrived. Strict where leniency has been used for attacks: no
// bare line feeds, control characters, folded lines, spaces before the colon or second lengths.
RequestHead ParseRequestHead(absl::string_view arrived);

}  // namespace mempulse
