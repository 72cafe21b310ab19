#include "infermeter/stats/summary/iterations.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "infermeter/stats/summary/moments.hpp"

namespace infermeter {
namespace {

constexpr double fewest = 10;
constexpr double most = 200;

// Of S²between, that T²between is at least. Five pilots of 20 iterations each of two subjects, T²within / T²between =
// 20 and a process that costs as much as 30 iterations: the choice costs 1.06 times as much as the best one with a
// quarter, 1.31 times with nothing. Where processes do not differ at all it is 1.43 and 1.22 times (simulated, 3,000
// each).
constexpr double least_share_between = 0.25;

// What the pilot processes say. Those with fewer than two values say nothing.
struct Pilot {
  std::vector<double> means;
  double squares = 0;       // within processes, around their means
  double degrees = 0;       // of freedom of `squares`
  double reciprocals = 0;   // sum of 1 / n
  double correlations = 0;  // sum of the processes' autocorrelations
};

// The autocorrelation around an estimated mean is too low by (1 + 4 ρ) / n (Marriott & Pope, "Bias in the estimation of
// autocorrelations", Biometrika 41 (1954) 390–402).
double corrected(double correlation, std::size_t n) {
  return correlation + (1 + 4 * correlation) / static_cast<double>(n);
}

Pilot pilot_of(std::span<const std::vector<double>> pilots) {
  Pilot pilot;
  for (const std::vector<double>& logs : pilots) {
    if (logs.size() < 2) continue;
    const Moments moments = moments_of(logs);
    const auto n = static_cast<double>(moments.count);
    pilot.means.push_back(moments.mean);
    pilot.squares += (n - 1) * moments.variance;
    pilot.degrees += n - 1;
    pilot.reciprocals += 1 / n;
    pilot.correlations += corrected(autocorrelation(logs), logs.size());
  }
  return pilot;
}

double known_cost(double cost_s) { return cost_s > 0 ? cost_s : 0; }  // not of NaN

// √(cost ratio · variance ratio). Where only one of the two costs is known to be above nothing, the other counts for
// nothing beside it; where none is, they are taken for equal.
double best_count(double within, double between, double process_cost_s, double iteration_cost_s) {
  if (!(within > 0)) return fewest;  // iterations do not differ: one shows as much as many
  if (!(between > 0)) return most;   // processes do not differ: more of them tell no more than more iterations
  const bool process_costs = process_cost_s > 0;
  const bool iteration_costs = iteration_cost_s > 0;
  if (process_costs != iteration_costs) return process_costs ? most : fewest;
  const double costs = process_costs ? process_cost_s / iteration_cost_s : 1;
  return std::sqrt(costs * within / between);
}

}  // namespace

double autocorrelation(std::span<const double> values) {
  if (values.size() < 3) return 0;
  const double mean = moments_of(values).mean;
  double squares = 0;
  double products = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    squares += (values[i] - mean) * (values[i] - mean);
    if (i > 0) products += (values[i] - mean) * (values[i - 1] - mean);
  }
  return squares > 0 ? products / squares : 0;
}

// Of one subject the variance of the mean over m processes of k iterations is (T²between + T²within g / k) / m at a
// cost of m (c_process + k c_iteration). The product of the two is least at k² = (c_process / c_iteration) (g T²within
// / T²between), which is the paper's formula for g = 1, independent iterations. An autocorrelation ρ that falls off as
// in an AR(1) process makes the mean of k iterations as uncertain as that of k / g independent ones, g = (1 + ρ) / (1 −
// ρ); hence k grows with the square root of g and not with g. T²between is what the variance of the process means holds
// beyond that (the paper subtracts S²within / k: its iterations are independent); for unequal k the mean of 1 / k
// stands for 1 / k.
IterationChoice choose_iterations(std::span<const PilotTimes> subjects, std::int64_t least) {
  const auto least_count = std::max(fewest, static_cast<double>(least));
  IterationChoice choice;
  double within = 0, between = 0, means = 0, process_cost_s = 0, iteration_cost_s = 0, counted = 0;
  for (const PilotTimes& subject : subjects) {
    const Pilot pilot = pilot_of(subject.logs);
    if (pilot.means.size() < 2) continue;
    const auto processes = static_cast<double>(pilot.means.size());
    const double within_variance = pilot.squares / pilot.degrees;
    const double correlation = std::clamp(pilot.correlations / processes, 0.0, 0.99);
    const double inflated = (1 + correlation) / (1 - correlation) * within_variance;
    const double of_means = moments_of(pilot.means).variance;
    choice.within_variance += within_variance;
    choice.autocorrelation += correlation;
    within += inflated;
    between += of_means - inflated * pilot.reciprocals / processes;
    means += of_means;
    process_cost_s += known_cost(subject.process_cost_s);
    iteration_cost_s += known_cost(subject.iteration_cost_s);
    ++counted;
  }
  double count = fewest;  // with fewer than two processes: many processes of few iterations are never wrong, only slow
  if (counted > 0) {
    choice.within_variance /= counted;
    choice.autocorrelation /= counted;
    choice.between_variance = std::max(0.0, between / counted);
    count = best_count(within, std::max(between, least_share_between * means), process_cost_s, iteration_cost_s);
  }
  choice.iterations = static_cast<std::int64_t>(std::ceil(std::clamp(count, least_count, std::max(most, least_count))));
  return choice;
}

}  // namespace infermeter
