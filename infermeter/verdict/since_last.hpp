// What changed since an earlier run of the same subjects: each one's latency, and what differs between the two runs.
// Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "infermeter/stats/comparison/sequential.hpp"
#include "infermeter/verdict/run_record.hpp"

namespace infermeter {

struct ChangeSinceLast {
  int subject = 0;
  std::optional<double> change;             // of latency p50, a share of its earlier value: 0.05 is 5 % more
  std::optional<Interval> change_interval;  // over processes; the two runs are not paired
  Direction direction = Direction::unresolved;
};

struct SinceLast {
  std::string run;  // the earlier one's id
  double at = 0;    // seconds since 1970, UTC
  std::vector<ChangeSinceLast> subjects;
  std::vector<std::string> differences;  // sentences, each once: machine, software, models, settings
};

// Are all subjects of the one in the other, by label?
[[nodiscard]] bool has_same_subjects(const RunRecord& run, const RunRecord& earlier);
[[nodiscard]] SinceLast since_last(const RunRecord& run, const RunRecord& earlier);

}  // namespace infermeter
