// Trials made of given durations, for the tests of this folder.
#pragma once

#include <vector>

#include "infermeter/samples/samples.hpp"

namespace infermeter {

inline Samples trial_of(int process, const std::vector<double>& durations, TrialEnd end = TrialEnd::ok) {
  Samples trial;
  trial.subject = 0;
  trial.process = process;
  trial.position = process;
  trial.end = end;
  // All begin at 0, so that end - begin is the given duration bit for bit.
  trial.begin_s.assign(durations.size(), 0.0);
  trial.end_s = durations;
  return trial;
}

inline std::vector<Samples> trials_of(const std::vector<std::vector<double>>& durations) {
  std::vector<Samples> trials;
  for (const auto& one : durations) trials.push_back(trial_of(static_cast<int>(trials.size()), one));
  return trials;
}

}  // namespace infermeter
