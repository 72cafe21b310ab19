#include "infermeter/verdict/tuning/race_values.hpp"

#include <algorithm>
#include <cmath>

#include "infermeter/stats/summary/process_times.hpp"
#include "infermeter/verdict/summary_options.hpp"

namespace infermeter {

RaceTrials::RaceTrials(const RunRecord& record, RaceValues& known)
    : record_(record), known_(known), kind_(metric_kind(record.plan.tuning->objective)) {
  for (const Samples& trial : record.trials) {
    if (trial.end != TrialEnd::interrupted) trials_[{trial.subject, trial.process}] = &trial;
  }
}

const Samples* RaceTrials::find(int subject, int block) const {
  const auto found = trials_.find({subject, block});
  return found == trials_.end() ? nullptr : found->second;
}

bool RaceTrials::has_all(std::span<const int> subjects, int block) const {
  return std::ranges::all_of(subjects, [&](int subject) { return find(subject, block) != nullptr; });
}

std::optional<double> RaceTrials::value(int subject, int block) {
  const Samples* trial = find(subject, block);
  if (trial == nullptr || trial->end != TrialEnd::ok) return std::nullopt;
  if (kind_ == nullptr) return size_value(subject);
  const auto [known, is_new] = known_.try_emplace({subject, block});
  if (is_new) known->second = value_of(*trial);
  return known->second;
}

std::optional<double> RaceTrials::value_of(const Samples& trial) const {
  const auto values = process_values(*kind_, subject_times(std::span(&trial, 1), summary_options(record_)));
  if (values.size() != 1 || !(values[0] > 0)) return std::nullopt;
  return kind_->lower_is_better ? std::log(values[0]) : -std::log(values[0]);
}

std::optional<double> RaceTrials::size_value(int subject) const {
  const auto index = static_cast<std::size_t>(subject);
  if (index >= record_.models.size() || record_.models[index].size_bytes == 0) return std::nullopt;
  return std::log(static_cast<double>(record_.models[index].size_bytes));
}

std::vector<Samples> RaceTrials::trials(int subject, int from, int to) const {
  std::vector<Samples> found;
  for (int block = from; block < to; ++block) {
    const Samples* trial = find(subject, block);
    if (trial != nullptr && trial->end == TrialEnd::ok) found.push_back(*trial);
  }
  return found;
}

double RaceTrials::mean_wall_s(int subject, int before) const {
  double sum = 0, count = 0;
  for (const auto& [place, trial] : trials_) {
    if (place.first != subject || place.second >= before) continue;
    sum += trial->wall_s;
    count += 1;
  }
  if (count > 0) return sum / count;
  for (const Samples& pilot : record_.side_trials) {
    if (pilot.purpose != Purpose::pilot || pilot.subject != subject) continue;
    sum += pilot.wall_s;
    count += 1;
  }
  return count > 0 ? sum / count : 0;
}

double RaceTrials::spent_s(int before) const {
  double sum = 0;
  for (const Samples& pilot : record_.side_trials) sum += pilot.purpose == Purpose::pilot ? pilot.wall_s : 0;
  for (const auto& [place, trial] : trials_) sum += place.second < before ? trial->wall_s : 0;
  return sum;
}

}  // namespace infermeter
