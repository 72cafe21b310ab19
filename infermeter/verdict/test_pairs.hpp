// Records of comparisons for the tests of this folder: pairs whose medians are known to the last digit.
#pragma once

#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "infermeter/verdict/run_record.hpp"

namespace infermeter::test {

// A trial with these durations one after the other.
inline Samples trial_with(int subject, int process, const std::vector<double>& times_s) {
  Samples trial;
  trial.subject = subject;
  trial.process = process;
  trial.started_at = 1000.0 + 2 * process + subject;
  trial.wall_s = 1;
  trial.phase = Phase::done;
  trial.executed = {{"input_shape", "(1, 4)"}};
  double now = 0;
  for (const double time_s : times_s) {
    trial.begin_s.push_back(now);
    trial.end_s.push_back(now + time_s);
    now += time_s;
  }
  return trial;
}

// Values between 0 and 1 that look random and are the same everywhere.
inline double scattered(int index) {
  const double x = std::sin(12.9898 * (index + 1)) * 43758.5453;
  return x - std::floor(x);
}

// Of a trial among all, when coins chose who runs first.
inline int position_of(int pair, int subject, int subjects) {
  const bool turned = scattered(31 * pair + 2) < 0.5;
  return subjects * pair + (turned ? subjects - 1 - subject : subject);
}

inline RunRecord record_with_question(int subjects, int max_pairs = 40) {
  RunRecord record;
  record.plan.processes = max_pairs;
  record.plan.question.emplace();
  for (int i = 0; i < subjects; ++i) {
    Subject subject;
    subject.label = std::string(1, static_cast<char>('a' + i));
    subject.model = "mlp";
    subject.backend = "fake";
    record.plan.subjects.push_back(subject);
  }
  record.models.resize(static_cast<std::size_t>(subjects));
  return record;
}

// Adds pairs: subject 0 varies by ± 0.5 %, the others by themselves too, subject i slower by `slowdowns[i]` (log
// scale).
inline void add_pairs(RunRecord& record, int pairs, const std::vector<double>& slowdowns) {
  for (int pair = 0; pair < pairs; ++pair) {
    for (int subject = 0; subject < static_cast<int>(record.plan.subjects.size()); ++subject) {
      const double noise = 0.01 * (scattered(pair * 7 + subject) - 0.5);
      const double median_s = 0.01 * std::exp(noise + slowdowns.at(static_cast<std::size_t>(subject)));
      record.trials.push_back(trial_with(subject, pair, {median_s, median_s, median_s * 1.001, median_s * 0.999}));
      record.trials.back().position = position_of(pair, subject, static_cast<int>(record.plan.subjects.size()));
      record.trials.back().memory.rss_peak_inference = 100'000'000U + static_cast<unsigned>(1000 * pair);
    }
  }
}

}  // namespace infermeter::test
