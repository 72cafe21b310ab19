#include "simulation/methods.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "infermeter/diagnostics/check.hpp"
#include "infermeter/stats/comparison/rank_sum.hpp"
#include "infermeter/stats/comparison/signed_rank.hpp"
#include "infermeter/stats/summary/moments.hpp"
#include "infermeter/stats/summary/process_interval.hpp"
#include "infermeter/stats/summary/quantile.hpp"

namespace infermeter::study {
namespace {

constexpr int bootstrap_samples = 199;

const double& drawn(const Times& values, SplitMix& random) {
  return values[static_cast<std::size_t>(random.uniform() * static_cast<double>(values.size()))];
}

double mean_of_drawn(const Times& values, SplitMix& random) {
  double sum = 0;
  for (std::size_t i = 0; i < values.size(); ++i) sum += drawn(values, random);
  return sum / static_cast<double>(values.size());
}

template <typename Statistic>
Interval percentiles_of(const Statistic& statistic) {
  Times samples(bootstrap_samples);
  for (double& sample : samples) sample = statistic();
  std::ranges::sort(samples);
  return {quantile(samples, 0.025), quantile(samples, 0.975)};
}

Times exponentials(const Times& logs) {
  Times values(logs.size());
  std::ranges::transform(logs, values.begin(), [](double log) { return std::exp(log); });
  return values;
}

}  // namespace

bool has_direction(const std::vector<Look>& looks) {
  if (looks.empty()) return false;
  return looks.back().direction == Direction::faster || looks.back().direction == Direction::slower;
}

bool alarm_without_spending(std::span<const double> differences) {
  return std::ranges::any_of(Design{}.looks, [&](int pairs) {
    return signed_rank_p(differences.first(static_cast<std::size_t>(pairs))) <= 0.05;
  });
}

bool alarm_of_t_at_every_look(std::span<const double> differences) {
  for (std::size_t pairs = 3; pairs <= differences.size(); ++pairs) {
    const auto interval = t_interval(differences.first(pairs), 0.95);
    if (interval->low > 0 || interval->high < 0) return true;
  }
  return false;
}

bool welch_alarm(const Times& baseline, const Times& candidate) {
  const auto ratio = ratio_of(exponentials(candidate), exponentials(baseline), 0.95);
  INFERMETER_CHECK(ratio && ratio->interval);
  return ratio->interval->low > 1 || ratio->interval->high < 1;
}

bool pooled_rank_sum_alarm(const std::vector<Times>& baseline, const std::vector<Times>& candidate) {
  return rank_sum_p(pooled(baseline), pooled(candidate)) <= 0.05;
}

Interval percentile_bootstrap(const Times& values, SplitMix& random) {
  return percentiles_of([&] { return mean_of_drawn(values, random); });
}

bool pooled_bootstrap_alarm(const std::vector<Times>& baseline, const std::vector<Times>& candidate, SplitMix& random) {
  const Times a = pooled(baseline);
  const Times b = pooled(candidate);
  const Interval interval = percentiles_of([&] { return mean_of_drawn(b, random) - mean_of_drawn(a, random); });
  return interval.low > 0 || interval.high < 0;
}

Interval two_level_bootstrap(const std::vector<Times>& processes, SplitMix& random) {
  const auto n = static_cast<double>(processes.size());
  return percentiles_of([&] {
    double sum = 0;
    for (std::size_t i = 0; i < processes.size(); ++i) {
      sum += mean_of_drawn(processes[static_cast<std::size_t>(random.uniform() * n)], random);
    }
    return sum / n;
  });
}

Times pooled(const std::vector<Times>& processes) {
  Times all;
  for (const Times& process : processes) all.insert(all.end(), process.begin(), process.end());
  return all;
}

Times levels_of(const std::vector<Times>& processes) {
  Times levels;
  for (const Times& process : processes) levels.push_back(level_of(process));
  return levels;
}

}  // namespace infermeter::study
