#include "infermeter/verdict/run_record.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace infermeter {

bool compares_machines(const RunRecord& record) {
  return !record.joined.empty() && !record.joined.front().host.empty();
}

const Subject& subject_at(const RunRecord& record, int subject) {
  return record.plan.subjects.at(static_cast<std::size_t>(subject));
}

const ModelFacts* model_of(const RunRecord& record, int subject) {
  const auto index = static_cast<std::size_t>(subject);
  return index < record.models.size() ? &record.models[index] : nullptr;
}

const Samples* failed_trial(const RunRecord& record, int subject) {
  const auto found = std::ranges::find_if(
      record.trials, [&](const Samples& trial) { return trial.subject == subject && trial.end != TrialEnd::ok; });
  return found == record.trials.end() ? nullptr : &*found;
}

std::string end_of(const Samples& trial) {
  std::string text(to_string(trial.end));
  if (trial.end == TrialEnd::timeout || trial.end == TrialEnd::interrupted) {
    return fmt::format("{} in {}", text, to_string(trial.phase));
  }
  return trial.signal == 0 ? text : fmt::format("{}, signal {}", text, trial.signal);
}

}  // namespace infermeter
