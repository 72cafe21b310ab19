// Results: named measurements that can be got, listed, compared, cleared and exported. For programs that measure
// callables of their own (trial/measure.hpp) or pick subjects out of runs.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "infermeter/diagnostics/result.hpp"
#include "infermeter/stats/summary/summary.hpp"
#include "infermeter/verdict/run_record.hpp"

namespace infermeter {

// One named subject with all its trials.
struct NamedResult {
  std::string name;
  std::vector<Samples> trials;
  Summary summary;

  // How many times as fast as `baseline` this is, by the median latency: 2 = half the time. With its interval where
  // both have at least two trials from processes of their own.
  [[nodiscard]] Estimate speedup_vs(const NamedResult& baseline) const;
  // Peak resident memory of this less that of `baseline`, in bytes; positive: this needs more.
  [[nodiscard]] std::optional<double> memory_change_vs(const NamedResult& baseline) const;
};

struct NamedComparison {
  std::string baseline, candidate;
  Estimate speedup;
  std::optional<double> memory_change_bytes;
  // True only if the whole interval of the speed-up lies above 1. Without an interval nothing is called an improvement.
  bool is_improvement = false;
};

class Results {
 public:
  // Adds trials under `name`; with the trials already there, if any.
  void add(std::string_view name, std::vector<Samples> trials);
  // Every subject of a run, under its label.
  void add(const RunRecord& record);

  // nullptr if there is none of that name. Valid until the next add or clear.
  [[nodiscard]] const NamedResult* get(std::string_view name) const;
  [[nodiscard]] const std::vector<NamedResult>& all() const { return results_; }  // in the order of their first add
  [[nodiscard]] Result<NamedComparison> compare(std::string_view baseline, std::string_view candidate) const;
  void clear() { results_.clear(); }

  // A record of all of them, the first as the baseline, from which every report can be rendered.
  [[nodiscard]] RunRecord to_record() const;

 private:
  std::vector<NamedResult> results_;
};

}  // namespace infermeter
