#pragma once

#include <string>
#include <vector>

#include "tests/kernels/condition.h"

namespace mempulse {

// One way to do what a remedy of doctor says, as a person would read it.
struct RemedyWay {
  std::string text;
  Condition condition;         // with it done
  bool use_softdirty = false;  // nothing is changed: softdirty has to work as things are
  bool not_here = false;       // another kernel or a boot: other rows show that
  bool understood = false;
};

// Every way that the sentence offers: alternatives are separated by ", or ", things to be done together by ";
// and ". Each alternative is tried once, together with the first one of the other parts.
std::vector<RemedyWay> WaysOf(const std::string& remedy, const Condition& condition);

}  // namespace mempulse
