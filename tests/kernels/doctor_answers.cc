#include "tests/kernels/doctor_answers.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

namespace mempulse {
namespace {

using Json = nlohmann::json;

void ReadRows(const Json& rows, std::map<std::string, Answer>* answers) {
  for (const Json& row : rows) {
    (*answers)[row["name"]] = {row["works"].get<bool>() ? "yes" : row["reason"].get<std::string>(),
                               row["detail"], row["remedy"]};
  }
}

StagedProgram StartDoctor(const Condition& condition) {
  return StagedProgram(condition, [](pid_t target) {
    return std::vector<std::string>{MEMPULSE_BINARY_DIR "/exporter/mempulsectl", "doctor", "--json",
                                    absl::StrCat(target)};
  });
}

Diagnosis ReadDoctor(StagedProgram doctor) {
  const ProgramEnd end = doctor.Wait();
  Diagnosis diagnosis;
  diagnosis.json = Json::parse(end.output, nullptr, false);
  if (diagnosis.json.is_discarded()) {
    ADD_FAILURE() << "doctor: status " << end.status << ": " << end.output << end.errors;
    return diagnosis;
  }
  ReadRows(diagnosis.json["mechanisms"], &diagnosis.own);
  ReadRows(diagnosis.json["target"]["mechanisms"], &diagnosis.cells);
  ReadRows(diagnosis.json["target"]["access"], &diagnosis.cells);
  return diagnosis;
}

int SettingsOf(const Condition& condition) {
  return condition.yama_scope * 10 + condition.perf_event_paranoid;
}

}  // namespace

void Doctors::AskAll(std::vector<Condition> conditions) {
  constexpr size_t kTogether = 3;
  std::stable_sort(conditions.begin(), conditions.end(),
                   [](const Condition& a, const Condition& b) { return SettingsOf(a) < SettingsOf(b); });
  Running running;
  int settings = -1;
  for (const Condition& condition : conditions) {
    const std::string text = ConditionText(condition);
    const bool asked =
        known_.count(text) > 0 ||
        std::any_of(running.begin(), running.end(), [&](const auto& one) { return one.first == text; });
    if (asked) continue;
    if (settings != SettingsOf(condition) || running.size() >= kTogether) Collect(&running);
    if (!ApplySettings(condition)) continue;  // Yama's scope 3 is for ever
    settings = SettingsOf(condition);
    running.emplace_back(text, StartDoctor(condition));
  }
  Collect(&running);
}

const Diagnosis* Doctors::Of(const Condition& condition) const {
  const auto found = known_.find(ConditionText(condition));
  return found == known_.end() ? nullptr : &found->second;
}

void Doctors::Collect(Running* running) {
  for (auto& [text, doctor] : *running) known_[text] = ReadDoctor(std::move(doctor));
  running->clear();
}

}  // namespace mempulse
