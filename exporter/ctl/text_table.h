#pragma once

#include <string>
#include <vector>

namespace mempulse {

// Columns as wide as their widest cell, two spaces apart; the last one is not padded. One line a row. Pure.
std::string TextTable(const std::vector<std::vector<std::string>>& rows);

// Text that came from a target made safe for a terminal: control bytes and invalid UTF-8 escaped, cut to
// `most` bytes.
std::string PrintableText(const std::string& text, size_t most);

// "5.02 Hz", "19.8 kHz"; "> 48 kHz" for a floor; "unbounded" when not finite.
std::string FrequencyText(double hertz, bool floor);

// A window's length: "2.77s", "20ms", "250us".
std::string WindowText(double seconds);

}  // namespace mempulse
