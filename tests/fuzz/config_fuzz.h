#pragma once

#include <cstddef>
#include <cstdint>

// libFuzzer's entry; always 0. Aborts when ParseOptions breaks its contract. A unit test runs it too.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);
