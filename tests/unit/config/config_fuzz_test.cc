#include "tests/fuzz/config_fuzz.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "tests/unit/config/config_files.h"

namespace mempulse {
namespace {

std::vector<std::string> Corpus() {
  std::vector<std::string> corpus;
  for (const std::string& name : ConfigFiles(".yml")) corpus.push_back(SourceText("tests/configs/" + name));
  for (const char* name : {"demo", "sidecar", "node", "full"}) {
    corpus.push_back(SourceText(std::string("config/examples/") + name + ".yml"));
  }
  return corpus;
}

void Feed(const std::string& text) {
  EXPECT_EQ(LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t*>(text.data()), text.size()), 0);
}

// One change of the kinds that a fuzzer makes; the same seed gives the same change on every machine.
std::string Mutated(std::string text, const std::vector<std::string>& corpus, std::mt19937& random) {
  static const std::vector<std::string> words = {"[",
                                                 "]",
                                                 "{",
                                                 "}",
                                                 ": ",
                                                 "- ",
                                                 "\n",
                                                 "&a ",
                                                 "*a",
                                                 "!!map ",
                                                 "|\n",
                                                 "\"",
                                                 "'",
                                                 "#",
                                                 "?",
                                                 "<<",
                                                 "~",
                                                 "---\n",
                                                 "\t",
                                                 "%",
                                                 "999999999999999999999",
                                                 "(a*)*",
                                                 "((((",
                                                 "{100000}",
                                                 "\xFF",
                                                 std::string(1, '\0')};
  if (text.empty()) return words[random() % words.size()];
  const size_t at = random() % text.size();
  switch (random() % 5) {
    case 0:
      text[at] = static_cast<char>(random());
      return text;
    case 1:
      return text.erase(at, 1 + random() % 16);
    case 2:
      return text.insert(at, words[random() % words.size()]);
    case 3: {
      const std::string& other = corpus[random() % corpus.size()];
      return text.substr(0, at) + other.substr(other.empty() ? 0 : random() % other.size());
    }
    default:
      return text.insert(at, text.substr(random() % text.size(), 64));
  }
}

TEST(ConfigFuzzTest, CorpusKeepsTheContract) {
  for (const std::string& text : Corpus()) Feed(text);
}

TEST(ConfigFuzzTest, EveryPrefixOfAFileKeepsTheContract) {
  const std::string text = SourceText("tests/configs/every_key.good.yml");
  for (size_t end = 0; end <= text.size(); ++end) Feed(text.substr(0, end));
}

TEST(ConfigFuzzTest, MutationsKeepTheContract) {
  const std::vector<std::string> corpus = Corpus();
  std::mt19937 random(20240517);
  for (int i = 0; i < 3000; ++i) {
    std::string text = corpus[random() % corpus.size()];
    for (size_t changes = 1 + random() % 4; changes > 0; --changes) text = Mutated(text, corpus, random);
    Feed(text);
  }
}

TEST(ConfigFuzzTest, DeepAndRepeatedTextEnds) {
  for (const char* piece :
       {"[", "{", "{a: ", "- ", "? ", "&a ", "*a ", "! ", "'", "\"\\", "a: ", "a\n", "#\n", "---\n"}) {
    std::string text;
    while (text.size() < 100000) text += piece;
    Feed(text);
  }
}

}  // namespace
}  // namespace mempulse
