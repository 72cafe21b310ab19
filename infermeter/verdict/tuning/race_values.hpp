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

// Of trials by subject and block: a race is replayed after each of its blocks, and trials do not change.
using RaceValues = std::map<std::pair<int, int>, std::optional<double>>;

class RaceTrials {
 public:
  // Both outlive this. `known` are values of trials of this record from an earlier replay; it takes up new ones.
  RaceTrials(const RunRecord& record, RaceValues& known);

  // nullptr: it has not ended, or was interrupted.
  [[nodiscard]] const Samples* find(int subject, int block) const;
  [[nodiscard]] bool has_all(std::span<const int> subjects, int block) const;
  // Logarithm of the objective, turned so that less is better. nullopt: the process has none.
  [[nodiscard]] std::optional<double> value(int subject, int block);
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
  [[nodiscard]] std::optional<double> value_of(const Samples& trial) const;

  const RunRecord& record_;
  RaceValues& known_;
  const MetricKind* kind_;  // nullptr: model_size
  std::map<std::pair<int, int>, const Samples*> trials_;
};

}  // namespace infermeter
