#include "infermeter/stats/summary/iterations.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "infermeter/stats/summary/moments.hpp"

namespace infermeter {
namespace {

constexpr double fewest = 10;
constexpr double most = 200;

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

// The variance of the mean over m processes of k iterations is (T²between + T²within g / k) / m at a cost of
// m (c_process + k c_iteration). The product of the two is least at k² = (c_process / c_iteration) (g T²within /
// T²between), which is the paper's formula for g = 1, independent iterations. An autocorrelation ρ that falls off as in
// an AR(1) process makes the mean of k iterations as uncertain as that of k / g independent ones, g = (1 + ρ) / (1 −
// ρ); hence k grows with the square root of g and not with g. T²between is what the variance of the process means holds
// beyond that (the paper subtracts S²within / k: its iterations are independent); for unequal k the mean of 1 / k
// stands for 1 / k.
IterationChoice choose_iterations(std::span<const std::vector<double>> pilots, double process_cost_s,
                                  double iteration_cost_s, std::int64_t least) {
  const auto least_count = std::max(fewest, static_cast<double>(least));
  IterationChoice choice;
  const Pilot pilot = pilot_of(pilots);
  double count = fewest;  // with fewer than two processes: many processes of few iterations are never wrong, only slow
  if (pilot.means.size() >= 2) {
    const auto processes = static_cast<double>(pilot.means.size());
    choice.within_variance = pilot.squares / pilot.degrees;
    choice.autocorrelation = std::clamp(pilot.correlations / processes, 0.0, 0.99);
    const double inflation = (1 + choice.autocorrelation) / (1 - choice.autocorrelation);
    const double within = inflation * choice.within_variance;
    choice.between_variance = std::max(0.0, moments_of(pilot.means).variance - within * pilot.reciprocals / processes);
    count = best_count(within, choice.between_variance, process_cost_s, iteration_cost_s);
  }
  choice.iterations = static_cast<std::int64_t>(std::ceil(std::clamp(count, least_count, std::max(most, least_count))));
  return choice;
}

}  // namespace infermeter
