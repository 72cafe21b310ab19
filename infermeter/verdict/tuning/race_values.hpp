// The trials of a race, found by subject and block.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "infermeter/stats/summary/metrics.hpp"
#include "infermeter/verdict/run_record.hpp"

namespace infermeter {

class RaceTrials {
 public:
  explicit RaceTrials(const RunRecord& record);  // outlives this

  // nullptr: it has not ended, or was interrupted.
  [[nodiscard]] const Samples* find(int subject, int block) const;
  [[nodiscard]] bool has_all(std::span<const int> subjects, int block) const;
  // Logarithm of the objective, turned so that less is better. nullopt: the process has none.
  [[nodiscard]] std::optional<double> value(int subject, int block) const;
  // Of the size of the subject's model, where that is the objective.
  [[nodiscard]] std::optional<double> size_value(int subject) const;
  [[nodiscard]] bool is_of_size() const { return kind_ == nullptr; }
  // The subject's whole trials in blocks [from, to), in their order.
  [[nodiscard]] std::vector<Samples> trials(int subject, int from, int to) const;
  // Mean of what a trial of the subject took before that block, pilots where there is none.
  [[nodiscard]] double mean_wall_s(int subject, int before) const;
  // All pilots and trials before that block.
  [[nodiscard]] double spent_s(int before) const;

 private:
  const RunRecord& record_;
  const MetricKind* kind_;  // nullptr: model_size
  std::map<std::pair<int, int>, const Samples*> trials_;
};

}  // namespace infermeter
