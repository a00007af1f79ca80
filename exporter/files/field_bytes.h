#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <type_traits>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"

// The byte form of what is kept in files. A type's fields are named once, in one `template <class A> void
// Fields(A& a, T& t)` that both directions use; little-endian, unsigned integers as base-128 varints,
// floating point as its bits.
namespace mempulse {

static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__);

// Seconds and quarter nanoseconds, which is all that an absl::Duration holds.
struct DurationParts {
  uint64_t seconds = 0;  // two's complement
  uint32_t ticks = 0;
};
DurationParts SplitDuration(absl::Duration duration);
absl::Duration JoinDuration(const DurationParts& parts);

class FieldWriter {
 public:
  void operator()(uint64_t value);
  void operator()(uint32_t value) { (*this)(uint64_t{value}); }
  void operator()(bool value) { bytes_.push_back(value ? '\1' : '\0'); }
  void operator()(double value) { Raw(&value, sizeof(value)); }
  void operator()(float value) { Raw(&value, sizeof(value)); }
  void operator()(const std::string& value);
  void operator()(absl::Duration value);
  void operator()(absl::Time value) { (*this)(value - absl::UnixEpoch()); }
  // An enumeration, or an int that stands for one, with `count` values.
  template <typename T>
  void OneOf(const T& value, int /*count*/) {
    (*this)(static_cast<uint64_t>(value));
  }
  template <typename T>
  void operator()(const std::vector<T>& list) {
    (*this)(uint64_t{list.size()});
    for (const T& entry : list) Fields(*this, entry);
  }
  template <typename T>
  requires std::is_class_v<T>
  void operator()(const T& value) { Fields(*this, value); }

  std::string Take() { return std::move(bytes_); }

 private:
  void Raw(const void* data, size_t size) { bytes_.append(static_cast<const char*>(data), size); }

  std::string bytes_;
};

// Hostile input: after the first value that is cut off or out of bounds ok() is false, `problem` says why,
// every later value reads as its default and nothing is allocated beyond what the remaining bytes could fill.
class FieldReader {
 public:
  explicit FieldReader(absl::string_view bytes) : bytes_(bytes) {}

  void operator()(uint64_t& value);
  void operator()(uint32_t& value);
  void operator()(bool& value);
  void operator()(double& value);  // must be finite
  void operator()(float& value);
  void operator()(std::string& value);
  void operator()(absl::Duration& value);
  void operator()(absl::Time& value);
  template <typename T>
  void OneOf(T& value, int count) {
    uint64_t number = 0;
    (*this)(number);
    if (number >= static_cast<uint64_t>(count)) return Fail("a value is out of its range");
    value = static_cast<T>(number);
  }
  template <typename T>
  void operator()(std::vector<T>& list) {
    uint64_t size = 0;
    (*this)(size);
    // Each entry takes a byte or more; it may take more memory than that, so the list grows as entries come.
    if (size > bytes_.size()) return Fail("a list is longer than the file");
    for (uint64_t i = 0; i < size && ok(); ++i) Fields(*this, list.emplace_back());
  }
  template <typename T>
  requires std::is_class_v<T>
  void operator()(T& value) { Fields(*this, value); }

  bool ok() const { return problem_.empty(); }
  bool at_end() const { return bytes_.empty(); }
  absl::string_view problem() const { return problem_; }
  void Fail(absl::string_view problem);

 private:
  bool Raw(void* data, size_t size);

  absl::string_view bytes_;
  absl::string_view problem_;  // static text
};

}  // namespace mempulse
