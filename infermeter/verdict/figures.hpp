// Figures: what of a finished run is kept for a history, one value for each subject and metric.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "infermeter/verdict/verdict.hpp"

namespace infermeter {

struct Figure {
  std::string run;
  int subject = 0;
  std::string metric;
  std::string series;     // series_of
  std::string machine;    // machine_fingerprint
  double created_at = 0;  // of the run; seconds since 1970, UTC
  std::string label;
  double value = 0;
  std::optional<Interval> interval;
  int processes = 0;
  int disturbed = 0;  // so many of the processes (disturbance.hpp)
  // What may explain that it moved.
  std::string runtime_version, model_sha256, git_commit, infermeter_version;
};

// A machine that there are figures of.
struct MachineName {
  std::string machine;              // machine_fingerprint
  std::string hostname, processor;  // as the last run on it says
  int runs = 0;                     // that the figures are of
};

// What stays the same of a subject while what is measured changes: the short form, with the model's file name for its
// path, without label and library, its pairs sorted; and the processors that workers may use.
[[nodiscard]] std::string series_of(const Plan& plan, const Subject& subject);

// Of subjects of which a process ended as planned, the metrics that have a value per process.
[[nodiscard]] std::vector<Figure> figures_of(const RunRecord& record, const Verdict& verdict);

}  // namespace infermeter
